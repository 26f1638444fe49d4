import type { QueuedCall } from './queued-call.js';
import type { Room } from './room.js';
import type { RunningIndex } from './running-index.js';
import type { WaitingIndex } from './waiting-index.js';

/** What the rule looks at: everything of one worker that waits or runs, and how much may run. */
export interface Situation {
  readonly waiting: WaitingIndex;
  readonly running: RunningIndex;
  readonly room: Room;
}

/**
 * The one rule of admission (DESIGN §4). Of the waiting calls that can start, the one whose principal has the
 * fewest running calls; among equals the oldest. The system always counts as having none. A
 * call can start when there is room, it conflicts with nothing that runs, and with nothing older that waits; but
 * what waits in a lane for its setup holds no shared call back. It decides, and changes nothing: whoever starts the call moves
 * it from waiting to running and asks again, until the answer is `undefined`.
 */
export function nextToStart(situation: Situation): QueuedCall | undefined {
  const { waiting, running, room } = situation;
  if (room.isFull(running)) return undefined;
  let next: QueuedCall | undefined;
  let nextRuns = 0;
  for (const line of waiting.lines()) {
    for (const call of line) {
      if (!canStart(call, situation)) break;
      const runs = running.ofPrincipal(call.principal);
      if (next === undefined || runs < nextRuns || (runs === nextRuns && call.sequence < next.sequence)) {
        next = call;
        nextRuns = runs;
      }
      // Nobody further back in this line is older or has fewer running calls.
      if (runs === 0) break;
    }
  }
  return next;
}

function canStart(call: QueuedCall, { waiting, running, room }: Situation): boolean {
  return (
    waiting.isOffered(call) &&
    room.lackingFor(call, running) === undefined &&
    !running.hasConflict(call) &&
    !waiting.hasOlderRival(call, running)
  );
}
