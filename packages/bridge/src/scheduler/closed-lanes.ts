import type { ClosedLane, LanesView, RefusingLane } from '@codelanes/protocol';

/**
 * What an administrator sees of the lanes that a worker has closed.
 *
 * @param passedMs Since the worker told of them; what was true then has grown older since.
 */
export function closedLanesView(
  told: readonly ClosedLane[],
  passedMs: number,
): Pick<LanesView, 'quarantined' | 'failedSetups'> {
  const of = (cause: ClosedLane['cause']): RefusingLane[] =>
    told.flatMap(({ cause: own, sinceMs, ...lane }) =>
      own === cause ? [{ ...lane, sinceMs: sinceMs + passedMs }] : [],
    );
  return { quarantined: of('quarantine'), failedSetups: of('failed_setup') };
}
