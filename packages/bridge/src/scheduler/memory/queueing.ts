import type { CallState } from '@codelanes/protocol';
import type { SubmissionRefused, Submitted, Withdrawn, WithdrawReason } from '../store.js';
import type { NewCall } from '../stored-call.js';
import { isOutOfHands, newRecord, type CallRecord } from './call-record.js';
import type { Memory } from './memory.js';
import { interruptPaused, stopPaused } from './pausing.js';
import { pausedScriptReasons } from '../paused-script.js';
import { startWhatCan, toEnded, toLeased, toWaiting } from './moves.js';
import { queueFullText, type QueueBound } from '../queue-full.js';
import { outdated, refused } from './refused.js';
import { capabilitiesIdOf } from './views.js';
import { waitingReason } from './waiting-reason.js';
import { isOnline } from './liveness.js';
import type { KeptPlace, WorkerRecord } from './worker-record.js';

/** Enters a call as waiting, or refuses it; see the contract. */
export function submit(memory: Memory, call: NewCall): Submitted | SubmissionRefused {
  const worker = memory.workers.get(call.workerId);
  if (memory.calls.has(call.callId)) {
    return refused('CALL_ID_TAKEN', `There is already a call ${call.callId}.`);
  }
  if (worker === undefined || !isOnline(memory, worker)) {
    return refused('WORKER_OFFLINE', `Worker ${call.workerId} was not heard from lately.`);
  }
  const { grounds } = call;
  if (grounds !== undefined && grounds.capabilitiesId !== capabilitiesIdOf(worker)) {
    return outdated(call.workerId);
  }
  const bound = fullBound(memory, worker, call.principal);
  if (bound !== undefined) return refused('WORKER_QUEUE_FULL', queueFullText(call.workerId, bound));
  const record = newRecord(worker, call, takeKeptPlace(memory, worker, call), memory.clock.now());
  memory.calls.set(call.callId, record);
  toWaiting(memory, record, false);
  startWhatCan(memory, worker);
  if (record.state.name === 'reserved') return { ok: true, state: 'reserved' };
  if (call.pool === 'command' && worker.running.hasCommandOf(call.lane)) {
    memory.expectations.tell(call.workerId, call.lane);
  }
  return { ok: true, state: 'waiting' };
}

/** Takes a call that was not delivered out of the queue; see the contract. */
export function withdraw(memory: Memory, callId: string, why: WithdrawReason): Withdrawn {
  const record = memory.calls.get(callId);
  if (record?.state.name !== 'waiting' && record?.state.name !== 'reserved') {
    return { withdrawn: false, state: record?.state.name };
  }
  const { worker, call } = record;
  if (record.pause !== undefined) {
    interruptPaused(memory, record, pausedScriptReasons.leftQueue);
    startWhatCan(memory, worker);
    return { withdrawn: false, state: 'interrupted' };
  }
  const waitedFor = waitingReason(memory, record);
  const waitedMs = Math.floor(memory.clock.now() - record.submittedAt);
  toEnded(memory, record, { how: 'withdrawn', why });
  if (why === 'deadline' && call !== undefined) keepPlace(memory, record, call.fingerprint);
  startWhatCan(memory, worker);
  return { withdrawn: true, waitedFor, waitedMs };
}

/** Asks for the end of a call; see the contract. */
export function cancel(memory: Memory, callId: string): CallState | undefined {
  const record = memory.calls.get(callId);
  if (record === undefined) return undefined;
  if (isOutOfHands(record)) {
    stopPaused(memory, record);
    startWhatCan(memory, record.worker);
  } else if (record.state.name === 'waiting' || record.state.name === 'reserved')
    withdraw(memory, callId, 'cancelled');
  else if (record.state.name === 'delivered' || record.state.name === 'running') {
    toLeased(memory, record, 'cancelling', record.state.lease);
  }
  return record.state.name;
}

/** Which bound of the queue one more call of that principal would break. */
function fullBound(
  { settings }: Memory,
  { waitingCalls }: WorkerRecord,
  principal: string,
): QueueBound | undefined {
  if (waitingCalls.size >= settings.queueLength) return 'queue';
  // Only a queue that holds as many calls at all can hold as many of one principal.
  if (waitingCalls.size < settings.principalQueueLength) return undefined;
  let own = 0;
  for (const record of waitingCalls) if (record.principal === principal) own += 1;
  return own >= settings.principalQueueLength ? 'share' : undefined;
}

function keepPlace(memory: Memory, record: CallRecord, fingerprint: string): void {
  const { worker, claim, submittedAt } = record;
  if (claim === undefined) return;
  const place: KeptPlace = { worker, claim, fingerprint, since: submittedAt };
  worker.keptPlaces.add(place);
  worker.waiting.add(claim, false);
  memory.places.begin(place);
}

/** The place that an identical call left behind (of several the oldest), or a new one at the end. */
function takeKeptPlace(memory: Memory, worker: WorkerRecord, call: NewCall): number {
  let oldest: KeptPlace | undefined;
  for (const place of worker.keptPlaces) {
    const identical = place.claim.principal === call.principal && place.fingerprint === call.fingerprint;
    if (identical && (oldest === undefined || place.claim.sequence < oldest.claim.sequence)) oldest = place;
  }
  if (oldest === undefined) return worker.nextSequence();
  worker.keptPlaces.delete(oldest);
  worker.waiting.delete(oldest.claim);
  memory.places.remove(oldest);
  return oldest.claim.sequence;
}
