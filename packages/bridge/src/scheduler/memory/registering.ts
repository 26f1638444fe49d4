import type { HeldCall } from '@codelanes/protocol';
import { Room } from '../room.js';
import type { Refused, Registered, Registration } from '../store.js';
import { systemPrincipal } from '../setup-call.js';
import { isEnded, leaseOf, type CallRecord, type HeldLease } from './call-record.js';
import { isOnline } from './liveness.js';
import type { Memory } from './memory.js';
import {
  hold,
  noteStart,
  offerWithheld,
  release,
  startWhatCan,
  toEnded,
  toLeased,
  toWaiting,
} from './moves.js';
import { loseScripts } from './pausing.js';
import { refused } from './refused.js';
import { WorkerRecord } from './worker-record.js';

/** Whom a call belongs to that a worker still holds but this store never saw: nobody can claim it as theirs. */
const unknownPrincipal = '(unknown)';

/** Takes in an incarnation of a worker; see the contract. */
export function register(memory: Memory, registration: Registration): Registered | Refused {
  const now = memory.clock.now();
  const { workerId, incarnationId, journalId } = registration;
  const present = memory.workers.get(workerId);
  const sameJournal = present?.registration.journalId === journalId;
  if (present !== undefined && !sameJournal && isOnline(memory, present) && !registration.takeOver) {
    return refused('WORKER_FENCED', `Worker ${workerId} already runs elsewhere, with a journal of its own.`);
  }
  const worker = present ?? new WorkerRecord(registration, now);
  const sameIncarnation = worker.registration.incarnationId === incarnationId;
  memory.workers.set(workerId, worker);
  worker.registration = registration;
  worker.room = new Room(registration.slots, registration.filePool, registration.capacities);
  worker.heardAt = now;
  worker.closed = { lanes: registration.closed ?? [], toldAt: now };

  if (!sameJournal) interruptLeases(memory, worker);
  if (!sameIncarnation) {
    loseScripts(memory, worker);
    for (const record of [...worker.reserved]) toWaiting(memory, record, false);
  }
  for (const lease of worker.leases.values()) {
    lease.unresolved = true;
    lease.cancelTold = false;
  }
  for (const held of registration.holds) takeOverHold(memory, worker, held);
  offerWithheld(worker);
  startWhatCan(memory, worker);
  const unresolved = [...worker.leases.values()].filter((lease) => lease.unresolved);
  return { ok: true, unresolved: unresolved.map(({ callId }) => callId) };
}

/** Only the journal that fetched a call can tell what became of it. */
function interruptLeases(memory: Memory, worker: WorkerRecord): void {
  for (const lease of [...worker.leases.values()]) {
    const record = memory.calls.get(lease.callId);
    if (record === undefined || leaseOf(record.state) !== lease) release(memory, lease);
    else {
      const reason = 'another worker took over from the one that ran this call';
      toEnded(memory, record, { how: 'interrupted', reason });
    }
  }
}

/** What the worker says it holds counts as running, whatever this store believed. */
function takeOverHold(memory: Memory, worker: WorkerRecord, held: HeldCall): void {
  const record = memory.calls.get(held.callId);
  const present = worker.leases.get(held.callId);
  if (present?.token === held.token) {
    present.unresolved = false;
    return;
  }
  if (present !== undefined) release(memory, present);
  worker.generation = Math.max(worker.generation, held.generation);
  // Nothing of it is held any more: that the pause was taken has not reached the worker yet.
  if (record?.pause?.token === held.token) return;
  const live = record?.worker === worker && !isEnded(record.state) ? record : undefined;
  // It was started by another store of this worker.
  if (live !== undefined && leaseOf(live.state) === undefined) noteStart(live, memory.clock.now());
  const lease = leaseForHold(worker, held, live);
  if (live !== undefined) toLeased(memory, live, 'running', lease);
  // Of a call that has ended for its caller the lane is still occupied, but its end stands.
  else if (record !== undefined) hold(memory, lease);
  else enterHeldCall(memory, held, lease);
}

function leaseForHold(worker: WorkerRecord, held: HeldCall, live: CallRecord | undefined): HeldLease {
  const { callId, lane, mode, pool, generation, token } = held;
  const sequence = worker.nextSequence();
  const claim = live?.claim ?? { id: callId, lane, mode, pool, principal: principalOf(held), sequence };
  return { callId, worker, claim, generation, token, unresolved: false, cancelTold: false };
}

function principalOf({ operation }: HeldCall): string {
  return operation === undefined ? unknownPrincipal : systemPrincipal;
}

/**
 * A call that began before this store did. A caller went away with the bridge that it had asked, so its call is to
 * be stopped, and until its worker says that it was, it counts as running; a setup had no caller, and goes on.
 */
function enterHeldCall(memory: Memory, held: HeldCall, lease: HeldLease): void {
  const now = memory.clock.now();
  hold(memory, lease);
  memory.calls.set(held.callId, {
    callId: held.callId,
    worker: lease.worker,
    principal: principalOf(held),
    lane: held.lane,
    claim: lease.claim,
    call: undefined,
    operation: held.operation,
    boundMs: undefined,
    submittedAt: now,
    queuedAt: now,
    startedAt: now,
    awayMs: 0,
    pause: undefined,
    state: { name: held.operation === undefined ? 'cancelling' : 'running', lease },
    since: now,
    revision: 0,
  });
}
