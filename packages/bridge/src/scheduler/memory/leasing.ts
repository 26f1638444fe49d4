import { isDeepStrictEqual } from 'node:util';
import type { Assignment, Lease, Report, Settlement } from '@codelanes/protocol';
import type { CallTiming, Fetched, Refused, Renewed, Settled, WorkerFence } from '../store.js';
import { isEnded, leaseOf, type CallRecord, type HeldLease } from './call-record.js';
import { hear } from './liveness.js';
import type { Memory } from './memory.js';
import { offerWithheld, release, startWhatCan, toDelivered, toEnded, toLeased, toWaiting } from './moves.js';
import type { WorkerRecord } from './worker-record.js';

/** Hands over what is reserved, and tells once of each call that is to be stopped. */
export function fetch(memory: Memory, fence: WorkerFence): Fetched | Refused {
  const worker = hear(memory, fence);
  if ('error' in worker) return worker;
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
    // A `busy` frees nothing: two calls that are both refused would else be offered in turns without end.
    if (said.state !== 'busy') offerWithheld(worker);
    if (said.state === 'started' && !started(memory, worker, said)) fenced.push(said.callId);
    if (said.state === 'busy') busy(memory, worker, said);
    if (said.state === 'denied') denied(memory, worker, said.callId);
    if (said.state === 'interrupted') interrupted(memory, worker, said.callId);
    if (said.state === 'quarantines') {
      worker.quarantines = { lanes: said.quarantined, toldAt: memory.clock.now() };
    }
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
  return { ok: true, lost, cancellations: [...cancelling(memory, worker)].map(({ callId }) => callId) };
}

/** Ends a call with the worker's word; the token decides, whichever incarnation brings it. */
export function settle(
  memory: Memory,
  fence: WorkerFence,
  { callId, token }: Lease,
  settlement: Settlement,
): Settled {
  hear(memory, fence);
  const worker = memory.workers.get(fence.workerId);
  const record = memory.calls.get(callId);
  const lease = worker?.leases.get(callId);
  if (worker === undefined || lease?.token !== token) {
    return { accepted: record !== undefined && isSame(record, token, settlement) };
  }
  const accepted = record !== undefined && leaseOf(record.state) === lease;
  const timing = accepted ? timingOf(memory, record) : undefined;
  if (accepted) {
    const cancelled = record.state.name === 'cancelling';
    toEnded(memory, record, { how: 'settled', settlement, cancelled });
  } else release(memory, lease);
  offerWithheld(worker);
  startWhatCan(memory, worker);
  return { accepted, timing };
}

function deliver(memory: Memory, record: CallRecord): Assignment {
  const { call } = record;
  if (call === undefined) throw new Error(`call ${record.callId} is reserved, but its request is gone`);
  const { callId, lane, mode, pool, executionMs, request, trace } = call;
  const { generation, token } = toDelivered(memory, record);
  return { callId, generation, token, lane, mode, pool, executionMs, request, ...trace };
}

/** Nothing of a call that this store never saw submitted. */
function timingOf(memory: Memory, { call, submittedAt, startedAt }: CallRecord): CallTiming | undefined {
  if (call === undefined) return undefined;
  const totalMs = memory.clock.now() - submittedAt;
  return { operation: call.request.operation, queuedMs: startedAt - submittedAt, totalMs };
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
  return record !== undefined;
}

function busy(memory: Memory, worker: WorkerRecord, said: Lease): void {
  const record = held(memory, worker, said);
  if (record?.state.name === 'delivered') toWaiting(memory, record, true);
  if (record?.state.name === 'cancelling') toEnded(memory, record, { how: 'withdrawn', why: 'cancelled' });
}

/**
 * Only of an unresolved call, and only once: the report carries no token, so that a repeated one must not take a
 * later delivery of the same call away from a worker that may be about to start it.
 */
function denied(memory: Memory, worker: WorkerRecord, callId: string): void {
  const lease = worker.leases.get(callId);
  const record = memory.calls.get(callId);
  if (lease?.unresolved !== true || record === undefined || leaseOf(record.state) !== lease) return;
  if (record.state.name === 'cancelling') toEnded(memory, record, { how: 'withdrawn', why: 'cancelled' });
  else if (record.call === undefined) toEnded(memory, record, { how: 'withdrawn', why: 'caller_gone' });
  else toWaiting(memory, record, false);
}

function interrupted(memory: Memory, worker: WorkerRecord, callId: string): void {
  const lease = worker.leases.get(callId);
  const record = memory.calls.get(callId);
  if (lease === undefined || record === undefined) return;
  if (leaseOf(record.state) !== lease) {
    release(memory, lease);
    return;
  }
  const reason = 'the worker was stopped while this call was in its hands';
  toEnded(memory, record, { how: 'interrupted', reason });
}

function isSame(record: CallRecord, token: string, settlement: Settlement): boolean {
  const { state } = record;
  return (
    isEnded(state) &&
    state.end.how === 'settled' &&
    state.token === token &&
    isDeepStrictEqual(state.end.settlement, settlement)
  );
}
