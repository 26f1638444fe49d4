import { laneKey, type Lane } from '@codelanes/protocol';
import { newSetupCall, type Unready } from '../setup-call.js';
import { newRecord } from './call-record.js';
import type { Memory } from './memory.js';
import { toWaiting } from './moves.js';
import type { WorkerRecord } from './worker-record.js';

/** Asks for the setup of a lane, once, ahead of all that waits for it; see the contract. */
export function announce(memory: Memory, worker: WorkerRecord, said: Unready): void {
  const { lane } = said;
  if (worker.waiting.hasSetupOf(lane) || worker.running.hasSetupOf(lane)) return;
  const call = newSetupCall(worker.workerId, said);
  const first = firstWaitingFor(memory, worker, lane);
  const sequence = first === undefined ? worker.nextSequence() : first - 0.5;
  const record = newRecord(worker, call, sequence, memory.clock.now());
  memory.calls.set(call.callId, record);
  toWaiting(memory, record, false);
}

/** The oldest place of an exclusive call of that lane which has not begun, or may come back to the queue. */
function firstWaitingFor(memory: Memory, worker: WorkerRecord, lane: Lane): number | undefined {
  const places: number[] = [];
  const oldest = worker.waiting.oldestExclusive(lane);
  if (oldest !== undefined) places.push(oldest.sequence);
  const delivered = [...worker.leases.keys()]
    .map((callId) => memory.calls.get(callId))
    .filter((record) => record?.state.name === 'delivered');
  for (const record of [...worker.reserved, ...delivered]) {
    const claim = record?.claim;
    if (claim?.mode === 'exclusive' && laneKey(claim.lane) === laneKey(lane)) places.push(claim.sequence);
  }
  return places.length === 0 ? undefined : Math.min(...places);
}
