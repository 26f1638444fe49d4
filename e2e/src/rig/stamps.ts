import type { CommandResult } from './caller.js';

/** When a command began and ended, in nanoseconds, by its own clock. */
export interface Span {
  readonly begin: bigint;
  readonly end: bigint;
}

/** A shell line that says when it began and ended around some work. */
export function stamped(work: string): string {
  return `date +%s%N; ${work}; date +%s%N`;
}

export function spanOf({ stdout }: Pick<CommandResult, 'stdout'>): Span {
  const [begin, end] = stdout
    .trim()
    .split('\n')
    .filter((line) => /^\d{19}$/.test(line));
  if (begin === undefined || end === undefined) throw new Error(`no stamps in ${JSON.stringify(stdout)}`);
  return { begin: BigInt(begin), end: BigInt(end) };
}

export function overlap(one: Span, other: Span): boolean {
  return one.begin < other.end && other.begin < one.end;
}

/** Whether one was over before the other began. */
export function before(one: Span, other: Span): boolean {
  return one.end <= other.begin;
}
