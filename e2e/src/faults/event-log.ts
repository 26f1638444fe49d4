import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const eventSchema = z.strictObject({
  /** Nanoseconds of the machine's monotonic clock, which all its processes share. */
  at: z.string().regex(/^\d+$/),
  event: z.enum(['begin', 'end', 'stopped']),
  callId: z.string(),
  operation: z.string(),
  /** Left out, the call is one of the whole checkout. */
  worktree: z.string().optional(),
});
type LoggedEvent = z.infer<typeof eventSchema>;

/** A call as the process that ran it saw it; without an end it was never seen to end. */
export interface Run {
  readonly worker: string;
  readonly callId: string;
  readonly operation: string;
  readonly worktree: string | undefined;
  readonly begin: bigint;
  readonly end: bigint | undefined;
  /** It ended by itself. */
  readonly isWhole: boolean;
}

/** What of a call is logged, in the words of its request: nobody's idea of lanes and modes is in it. */
export type Logged = Pick<LoggedEvent, 'callId' | 'operation' | 'worktree'>;

/** Appends at once, so that what a log says has happened in that order. */
export function logEvent(
  file: string,
  event: LoggedEvent['event'],
  { callId, operation, worktree }: Logged,
): void {
  const at = process.hrtime.bigint().toString();
  appendFileSync(
    file,
    `${JSON.stringify({ at, event, callId, operation, worktree } satisfies LoggedEvent)}\n`,
  );
}

export function readRuns(worker: string, file: string): Run[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  return runsOf(
    worker,
    lines.map((line) => eventSchema.parse(JSON.parse(line))),
  );
}

/** An end belongs to the latest begin of its call that has none. */
function runsOf(worker: string, events: readonly LoggedEvent[]): Run[] {
  const runs: Run[] = [];
  const open = new Map<string, number>();
  for (const { at, event, callId, operation, worktree } of events) {
    const place = open.get(callId);
    if (event === 'begin') {
      open.set(callId, runs.length);
      runs.push({ worker, callId, operation, worktree, begin: BigInt(at), end: undefined, isWhole: false });
    } else if (place === undefined) {
      throw new Error(`the log of ${worker} ends ${callId}, which it never began`);
    } else {
      open.delete(callId);
      runs.splice(
        place,
        1,
        ...runs.slice(place, place + 1).map((run) => ({ ...run, end: BigInt(at), isWhole: event === 'end' })),
      );
    }
  }
  return runs;
}
