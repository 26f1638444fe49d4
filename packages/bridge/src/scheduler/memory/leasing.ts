import { isDeepStrictEqual } from 'node:util';
import type { Assignment, Lease, Pause, Report, Settlement } from '@codelanes/protocol';
import type {
  CallTiming,
  Fetched,
  Refused,
  RegistrationFence,
  Renewed,
  Settled,
  WorkerFence,
} from '../store.js';
import { pausedScriptReasons } from '../paused-script.js';
import { isEnded, isOutOfHands, leaseOf, type CallRecord, type HeldLease } from './call-record.js';
import { announce } from './announcing.js';
import { hear } from './liveness.js';
import type { Memory } from './memory.js';
import { offerWithheld, release, startWhatCan, toDelivered, toEnded, toLeased, toWaiting } from './moves.js';
import { interruptPaused, isSamePause, pause, stopPaused } from './pausing.js';
import { registeredAnew } from './refused.js';
import type { WorkerRecord } from './worker-record.js';

/** Hands over what is reserved, and tells once of each call that is to be stopped. */
export function fetch(memory: Memory, fence: RegistrationFence): Fetched | Refused {
  const worker = hear(memory, fence);
  if ('error' in worker) return worker;
  if (worker.registration.registrationId !== fence.registrationId) return registeredAnew(fence.workerId);
  if (!worker.offering) {
    worker.offering = true;
    startWhatCan(memory, worker);
  }
  const assignments = [...worker.reserved].map((record) => deliver(memory, record));
  const cancellations: string[] = [];
  for (const lease of cancelling(memory, worker)) {
    // A poll that told of it again and again would never wait; a lost reply is made good by the next renewal.
    if (lease.cancelTold) continue;
    lease.cancelTold = true;
    cancellations.push(lease.callId);
  }
  for (const stop of worker.stops) {
    if (!stop.isTold) cancellations.push(stop.callId);
    stop.isTold = true;
  }
  return { ok: true, assignments, cancellations };
}

/** Takes what the worker says of its calls, in the order in which it says it. */
export function report(
  memory: Memory,
  fence: WorkerFence,
  reports: readonly Report[],
): { readonly fenced: readonly string[] } | Refused {
  const worker = hear(memory, fence);
  if ('error' in worker) return worker;
  const fenced: string[] = [];
  for (const said of reports) {
    // These free nothing: two calls that are both refused would else be offered in turns without end.
    if (said.state !== 'busy' && said.state !== 'unready') offerWithheld(worker);
    if (said.state === 'started' && !started(memory, worker, said)) fenced.push(said.callId);
    if (said.state === 'busy') busy(memory, worker, said);
    if (said.state === 'denied') denied(memory, worker, said.callId);
    if (said.state === 'interrupted') interrupted(memory, worker, said.callId);
    if (said.state === 'unready') announce(memory, worker, said);
    if (said.state === 'closed') worker.closed = { lanes: said.lanes, toldAt: memory.clock.now() };
  }
  startWhatCan(memory, worker);
  return { fenced };
}

/** Renews the leases that are still this worker's; the token decides. */
export function renew(memory: Memory, fence: WorkerFence, leases: readonly Lease[]): Renewed | Refused {
  const worker = hear(memory, fence);
  if ('error' in worker) return worker;
  const lost: string[] = [];
  for (const { callId, token } of leases) {
    const lease = worker.leases.get(callId);
    if (lease?.token === token) memory.leases.begin(lease);
    else lost.push(callId);
  }
  const toStop = [...cancelling(memory, worker), ...worker.stops];
  return { ok: true, lost, cancellations: toStop.map(({ callId }) => callId) };
}

/** Ends or pauses a call with the worker's word; the token decides, whichever incarnation brings it. */
export function settle(
  memory: Memory,
  fence: WorkerFence,
  { callId, token }: Lease,
  settlement: Settlement | Pause,
): Settled {
  hear(memory, fence);
  const worker = memory.workers.get(fence.workerId);
  const record = memory.calls.get(callId);
  const lease = worker?.leases.get(callId);
  if (worker === undefined || lease?.token !== token) {
    return { accepted: record !== undefined && isSame(record, token, settlement) };
  }
  const live = record !== undefined && leaseOf(record.state) === lease ? record : undefined;
  if (live === undefined) release(memory, lease);
  const settled = live === undefined ? { accepted: false } : settleLive(memory, live, token, settlement);
  offerWithheld(worker);
  startWhatCan(memory, worker);
  return settled;
}

function settleLive(
  memory: Memory,
  record: CallRecord,
  token: string,
  settlement: Settlement | Pause,
): Settled {
  if (settlement.status === 'paused') return { accepted: pause(memory, record, token, settlement) };
  const timing = timingOf(memory, record);
  const cancelled = record.state.name === 'cancelling';
  toEnded(memory, record, { how: 'settled', settlement, cancelled });
  return { accepted: true, timing };
}

function deliver(memory: Memory, record: CallRecord): Assignment {
  const { call } = record;
  if (call === undefined) throw new Error(`call ${record.callId} is reserved, but its request is gone`);
  const { callId, lane, mode, pool, executionMs, request, trace } = call;
  const { generation, token } = toDelivered(memory, record);
  return { callId, generation, token, lane, mode, pool, executionMs, request, ...trace };
}

/** Nothing of a call that this store never saw submitted. */
function timingOf(memory: Memory, record: CallRecord): CallTiming | undefined {
  const { call, operation, submittedAt, startedAt, awayMs, pause: latest } = record;
  if (call === undefined || operation === undefined) return undefined;
  const totalMs = memory.clock.now() - submittedAt - awayMs;
  return { operation, queuedMs: startedAt - submittedAt, totalMs, wasPaused: latest !== undefined };
}

/** What the worker is to stop: what was cancelled, and what it still holds of a call that has ended. */
function* cancelling(memory: Memory, worker: WorkerRecord): IterableIterator<HeldLease> {
  for (const lease of worker.leases.values()) {
    const state = memory.calls.get(lease.callId)?.state;
    if (state === undefined || state.name === 'cancelling' || leaseOf(state) !== lease) yield lease;
  }
}

/** The call that a worker holds under that token, if it still does. */
function held(memory: Memory, worker: WorkerRecord, { callId, token }: Lease): CallRecord | undefined {
  const lease = worker.leases.get(callId);
  const record = memory.calls.get(callId);
  return record !== undefined && lease?.token === token && leaseOf(record.state) === lease
    ? record
    : undefined;
}

function started(memory: Memory, worker: WorkerRecord, said: Lease): boolean {
  const record = held(memory, worker, said);
  if (record?.state.name === 'delivered') toLeased(memory, record, 'running', record.state.lease);
  // What is said of a start may come after the pause that followed it.
  return record !== undefined || memory.calls.get(said.callId)?.pause?.token === said.token;
}

function busy(memory: Memory, worker: WorkerRecord, said: Lease): void {
  const record = held(memory, worker, said);
  if (record === undefined) return;
  const isCancelling = record.state.name === 'cancelling';
  if (record.pause === undefined) {
    if (isCancelling) toEnded(memory, record, { how: 'withdrawn', why: 'cancelled' });
    else if (record.state.name === 'delivered') toWaiting(memory, record, true);
  } else if (isCancelling) stopPaused(memory, record);
  else if (memory.clock.now() >= record.pause.until) {
    interruptPaused(memory, record, pausedScriptReasons.tooLong);
  } else if (record.state.name === 'delivered') toWaiting(memory, record, true);
}

/**
 * Only of an unresolved call, and only once: the report carries no token, so that a repeated one must not take a
 * later delivery of the same call away from a worker that may be about to start it.
 */
function denied(memory: Memory, worker: WorkerRecord, callId: string): void {
  const lease = worker.leases.get(callId);
  const record = memory.calls.get(callId);
  if (lease?.unresolved !== true || record === undefined || leaseOf(record.state) !== lease) return;
  if (record.pause !== undefined) {
    const reason = pausedScriptReasons.workerStartedAnew;
    toEnded(memory, record, { how: 'interrupted', reason });
  } else if (record.state.name === 'cancelling') {
    toEnded(memory, record, { how: 'withdrawn', why: 'cancelled' });
  } else if (record.call === undefined) toEnded(memory, record, { how: 'withdrawn', why: 'caller_gone' });
  else toWaiting(memory, record, false);
}

function interrupted(memory: Memory, worker: WorkerRecord, callId: string): void {
  const lease = worker.leases.get(callId);
  const record = memory.calls.get(callId);
  if (record === undefined) return;
  if (lease === undefined) {
    if (record.worker === worker && isOutOfHands(record)) {
      toEnded(memory, record, { how: 'interrupted', reason: pausedScriptReasons.workerEndedIt });
    }
    return;
  }
  if (leaseOf(record.state) !== lease) {
    release(memory, lease);
    return;
  }
  const reason = 'the worker was stopped while this call was in its hands';
  toEnded(memory, record, { how: 'interrupted', reason });
}

function isSame(record: CallRecord, token: string, settlement: Settlement | Pause): boolean {
  const { state } = record;
  if (settlement.status === 'paused') return isSamePause(record, token, settlement);
  return (
    isEnded(state) &&
    state.end.how === 'settled' &&
    state.token === token &&
    isDeepStrictEqual(state.end.settlement, settlement)
  );
}
