/** Where a replay first differs from what its vector expects. */
export interface Mismatch {
  /** Name of the trace, or what its request is. */
  readonly name: string;
  /** 1-based step of a trace, and what it does. */
  readonly step?: string | undefined;
  readonly expected: unknown;
  readonly got: unknown;
}

/** One line for people: what was replayed, what it should have given, what it gave. */
export function describeMismatch({ name, step, expected, got }: Mismatch): string {
  const where = step === undefined ? name : `${name}, ${step}`;
  return `${where}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`;
}
