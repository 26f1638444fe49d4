/** When a command ran, by the stamps that it printed itself: milliseconds since 1970. */
export interface Ran {
  readonly fromMs: number;
  readonly toMs: number;
}

/** @returns `undefined` where the output does not begin and end with a stamp. */
export function ranFrom(output: string): Ran | undefined {
  const lines = output.trim().split('\n');
  const [fromMs, toMs] = [lines[0], lines.at(-1)].map(stampOf);
  return lines.length < 2 || fromMs === undefined || toMs === undefined ? undefined : { fromMs, toMs };
}

function stampOf(line: string | undefined): number | undefined {
  return line !== undefined && /^\d+\.\d+$/.test(line) ? Number(line) * 1000 : undefined;
}

export function overlap(one: Ran, other: Ran): boolean {
  return one.fromMs < other.toMs && other.fromMs < one.toMs;
}

export function isAfter(one: Ran, other: Ran): boolean {
  return one.fromMs >= other.toMs;
}
