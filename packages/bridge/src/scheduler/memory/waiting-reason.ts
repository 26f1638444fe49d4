import { limits, type Blocker, type WaitingReason } from '@codelanes/protocol';
import type { QueuedCall } from '../queued-call.js';
import { isEnded, type CallRecord } from './call-record.js';
import type { Memory } from './memory.js';

/** Who looks: the caller of the call, or an administrator, who may see everybody's calls. */
export type Viewer = 'caller' | 'administrator';

/**
 * What a call waits for: first what runs, then what waits and may not be overtaken, each from the oldest on. A
 * caller learns only lane and age of what belongs to others, and of a setup also what it is and how long it may take.
 */
export function waitingReason(memory: Memory, record: CallRecord, viewer: Viewer = 'caller'): WaitingReason {
  const { worker, claim, state } = record;
  if (claim === undefined || state.name !== 'waiting') return { blockers: [], position: 1 };
  const { waiting, running, room } = worker;
  const runs = running.conflicts(claim, limits.blockersShown);
  const waits = waiting.olderRivals(claim, limits.blockersShown - runs.length, running);
  const lacking = room.lackingFor(claim, running);
  const told = (call: QueuedCall, name: Blocker['state']) =>
    blocker(memory, record, call, name, viewer === 'administrator' || call.principal === record.principal);
  return {
    blockers: [...runs.map((call) => told(call, 'running')), ...waits.map((call) => told(call, 'waiting'))],
    ...(lacking === undefined ? {} : { lacking }),
    position: waiting.position(claim),
  };
}

function blocker(
  memory: Memory,
  waiter: CallRecord,
  call: QueuedCall,
  state: Blocker['state'],
  open: boolean,
): Blocker {
  const record = memory.calls.get(call.id);
  const place = [...waiter.worker.keptPlaces].find(({ claim }) => claim === call);
  const since = place?.since ?? record?.since ?? memory.clock.now();
  const live = record === undefined || isEnded(record.state) ? undefined : record;
  const { operation, boundMs } = live ?? {};
  const isTold = operation !== undefined && (open || operation === 'setup');
  return {
    lane: call.lane,
    ageMs: Math.floor(memory.clock.now() - since),
    state,
    ...(open ? { callId: call.id } : {}),
    ...(isTold ? { operation } : {}),
    ...(boundMs === undefined ? {} : { boundMs }),
  };
}
