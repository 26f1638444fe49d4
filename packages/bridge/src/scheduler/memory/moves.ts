import { randomBytes } from 'node:crypto';
import { nextToStart } from '../rule.js';
import type { CallEnd } from '../store.js';
import {
  isEnded,
  leaseOf,
  type CallRecord,
  type HeldLease,
  type LatestPause,
  type RecordState,
} from './call-record.js';
import type { Memory } from './memory.js';
import type { WorkerRecord } from './worker-record.js';

/*
 * The moves of the state table, one function each. Each takes a call out of where it is and puts it where it
 * goes, in the indexes as in its record; none decides whether that is right.
 */

/** Puts a call into the queue at its place, whether it is new or comes back from a reservation or delivery. */
export function toWaiting(memory: Memory, record: CallRecord, withheld: boolean): void {
  leave(memory, record);
  const { worker, claim } = record;
  worker.waitingCalls.add(record);
  if (withheld) worker.withheld.add(record);
  if (claim === undefined) worker.waitingWithoutLane.add(record);
  else worker.waiting.add(claim, !withheld);
  enter(memory, record, { name: 'waiting', withheld }, record.queuedAt);
}

/** Starts a call in the sense of the rule: from here on it occupies its lane and its pool. */
export function toReserved(memory: Memory, record: CallRecord): void {
  leave(memory, record);
  const { worker, claim } = record;
  if (claim !== undefined) worker.running.add(claim);
  worker.reserved.add(record);
  memory.reservations.begin(record);
  const now = memory.clock.now();
  noteStart(record, now);
  enter(memory, record, { name: 'reserved' }, now);
  memory.workerListeners.mark(worker.workerId);
}

/** A call starts, or goes on after a pause. */
export function noteStart(record: CallRecord, now: number): void {
  const { pause } = record;
  if (pause === undefined) record.startedAt = now;
  else record.awayMs = pause.awayBeforeMs + now - pause.at;
}

/** Hands a call to its worker under a new lease. */
export function toDelivered(memory: Memory, record: CallRecord): HeldLease {
  const { worker, callId, claim } = record;
  worker.generation += 1;
  const token = randomBytes(32).toString('hex');
  const lease: HeldLease = {
    callId,
    worker,
    claim,
    generation: worker.generation,
    token,
    unresolved: false,
    cancelTold: false,
  };
  toLeased(memory, record, 'delivered', lease);
  return lease;
}

/** Moves a call under a lease; the time of a new lease begins. */
export function toLeased(
  memory: Memory,
  record: CallRecord,
  name: 'delivered' | 'running' | 'cancelling',
  lease: HeldLease,
): void {
  if (leaseOf(record.state) !== lease) {
    leave(memory, record);
    hold(memory, lease);
  }
  if (name === 'running') endPause(memory, record);
  enter(memory, record, { name, lease }, name === 'cancelling' ? record.since : memory.clock.now());
  if (name === 'cancelling') memory.workerListeners.mark(record.worker.workerId);
}

/** Takes a script that waits for its tools out of all that it occupied. */
export function toPaused(memory: Memory, record: CallRecord, pause: LatestPause): void {
  leave(memory, record);
  record.pause = pause;
  record.worker.pausedScripts.add(record);
  memory.pauses.begin(record);
  enter(memory, record, { name: 'paused' }, pause.at);
}

/** Ends a call; it is remembered for a while. */
export function toEnded(memory: Memory, record: CallRecord, end: CallEnd): void {
  const token = leaseOf(record.state)?.token;
  leave(memory, record);
  endPause(memory, record);
  record.pause = undefined;
  record.call = undefined;
  memory.ended.begin(record);
  if (end.how === 'settled') memory.results.keep(record, end.settlement);
  enter(memory, record, { name: end.how, end, token }, memory.clock.now());
  const { operation } = record;
  if (end.how === 'interrupted') memory.losses.tell({ how: 'interrupted', operation });
  else if (end.how === 'withdrawn' && end.why === 'deadline') {
    memory.losses.tell({ how: 'queue_timeout', operation });
  }
}

/** Counts a lease as running. */
export function hold(memory: Memory, lease: HeldLease): void {
  lease.worker.leases.set(lease.callId, lease);
  if (lease.claim !== undefined) lease.worker.running.add(lease.claim);
  memory.leases.begin(lease);
}

/** Ends a lease, and with it all that it occupied. */
export function release(memory: Memory, lease: HeldLease): void {
  const { worker, callId, claim } = lease;
  if (worker.leases.get(callId) === lease) worker.leases.delete(callId);
  if (claim !== undefined) worker.running.delete(claim);
  memory.leases.remove(lease);
}

/** Starts one call after the other until the rule starts none. */
export function startWhatCan(memory: Memory, worker: WorkerRecord): void {
  if (!worker.offering) return;
  for (const record of [...worker.waitingWithoutLane]) {
    if (!worker.withheld.has(record)) toReserved(memory, record);
  }
  for (let next = nextToStart(worker); next !== undefined; next = nextToStart(worker)) {
    const record = memory.calls.get(next.id);
    if (record === undefined) throw new Error(`call ${next.id} waits, but is not known`);
    toReserved(memory, record);
  }
}

/** Offers the calls again that the worker had answered `busy`. */
export function offerWithheld(worker: WorkerRecord): void {
  for (const record of worker.withheld) {
    record.state = { name: 'waiting', withheld: false };
    if (record.claim !== undefined) worker.waiting.offer(record.claim);
  }
  worker.withheld.clear();
}

function endPause(memory: Memory, record: CallRecord): void {
  record.worker.pausedScripts.delete(record);
  memory.pauses.remove(record);
}

function leave(memory: Memory, record: CallRecord): void {
  const { worker, state, claim } = record;
  if (isEnded(state)) throw new Error(`call ${record.callId} has ended and moves no more`);
  switch (state.name) {
    case 'paused':
      return;
    case 'waiting':
      worker.waitingCalls.delete(record);
      worker.withheld.delete(record);
      worker.waitingWithoutLane.delete(record);
      if (claim !== undefined) worker.waiting.delete(claim);
      return;
    case 'reserved':
      worker.reserved.delete(record);
      memory.reservations.remove(record);
      if (claim !== undefined) worker.running.delete(claim);
      return;
    case 'delivered':
    case 'running':
    case 'cancelling':
      release(memory, state.lease);
  }
}

function enter(memory: Memory, record: CallRecord, state: RecordState, since: number): void {
  record.state = state;
  record.since = since;
  record.revision += 1;
  memory.callListeners.mark(record.callId);
}
