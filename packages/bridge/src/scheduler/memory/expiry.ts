import { isEnded, leaseOf, type CallRecord, type HeldLease } from './call-record.js';
import type { Memory } from './memory.js';
import { release, startWhatCan, toEnded, toWaiting } from './moves.js';
import type { KeptPlace } from './worker-record.js';

/**
 * A reserved call was not fetched in time: back to its place. Nothing is offered until the worker asks for work
 * again, else the same call would be reserved for an absent worker over and over.
 */
export function reservationLapsed(memory: Memory, record: CallRecord): void {
  record.worker.offering = false;
  toWaiting(memory, record, false);
}

/** A lease was not renewed in time: what it ran may or may not have happened, and its lane is free. */
export function leaseEnded(memory: Memory, lease: HeldLease): void {
  const record = memory.calls.get(lease.callId);
  if (record !== undefined && leaseOf(record.state) === lease) {
    const reason = 'the worker was not heard from until the lease of this call had ended';
    toEnded(memory, record, { how: 'interrupted', reason });
  } else release(memory, lease);
  startWhatCan(memory, lease.worker);
}

/** Nobody came back for a place that was kept. */
export function placeEnded(memory: Memory, place: KeptPlace): void {
  place.worker.keptPlaces.delete(place);
  place.worker.waiting.delete(place.claim);
  startWhatCan(memory, place.worker);
}

/** An ended call was remembered for long enough. */
export function forget(memory: Memory, record: CallRecord): void {
  memory.results.drop(record);
  if (isEnded(record.state) && memory.calls.get(record.callId) === record) memory.calls.delete(record.callId);
}
