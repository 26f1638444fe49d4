import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const file = fileURLToPath(new URL('../../fixtures/vectors/busy-day.jsonl', import.meta.url));

const toMilliseconds = z
  .number()
  .nonnegative()
  .transform((seconds) => Math.round(seconds * 1000));

const lineSchema = z.strictObject({
  id: z.string(),
  at: toMilliseconds,
  repository: z.string(),
  worktree: z.string().nullable(),
  seconds: toMilliseconds,
  caller: z.string(),
});

/** One command of the day; times are in milliseconds, `at` since midnight. */
export interface DayCall {
  readonly at: number;
  readonly repository: string;
  /** `null`: a call on the whole checkout. */
  readonly worktree: string | null;
  readonly workMs: number;
  readonly caller: string;
}

/** The calls of a simulated busy day at one environment, in the order of their arrival. */
export function readBusyDay(): readonly DayCall[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const { at, repository, worktree, seconds: workMs, caller } = lineSchema.parse(JSON.parse(line));
    return { at, repository, worktree, workMs, caller };
  });
}
