import type { ClosedLane } from '@codelanes/protocol';
import type { QueuedCall } from '../queued-call.js';
import { Room } from '../room.js';
import { RunningIndex } from '../running-index.js';
import type { Registration } from '../store.js';
import { WaitingIndex } from '../waiting-index.js';
import type { CallRecord, HeldLease } from './call-record.js';

/** The place of a call that timed out in the queue: it blocks as an older waiting call until its retry comes. */
export interface KeptPlace {
  readonly worker: WorkerRecord;
  readonly claim: QueuedCall;
  readonly fingerprint: string;
  /** When the call that left it behind was submitted. */
  readonly since: number;
}

/** A script that its worker is to end, under no lease that would tell it so. */
export interface Stop {
  readonly callId: string;
  readonly worker: WorkerRecord;
  /** A poll has told it; every renewal tells again. */
  isTold: boolean;
}

/** The lanes that a worker has closed, as it said at that time. */
export interface ClosedLanes {
  readonly lanes: readonly ClosedLane[];
  readonly toldAt: number;
}

/** Everything of one worker; calls of different workers never meet. */
export class WorkerRecord {
  readonly workerId: string;
  registration: Registration;
  room: Room;
  heardAt: number;
  closed: ClosedLanes;

  readonly waiting = new WaitingIndex();
  readonly running = new RunningIndex();

  /** Reserved calls in the order in which they started. */
  readonly reserved = new Set<CallRecord>();
  /** Leases by call id: with `reserved`, the one truth that `running` is derived from. */
  readonly leases = new Map<string, HeldLease>();
  /** Waiting reads of instructions, which take neither lane nor pool. */
  readonly waitingWithoutLane = new Set<CallRecord>();
  readonly withheld = new Set<CallRecord>();
  readonly waitingCalls = new Set<CallRecord>();
  /** Calls whose script its worker keeps, and has not said to go on. */
  readonly pausedScripts = new Set<CallRecord>();
  readonly stops = new Set<Stop>();
  readonly keptPlaces = new Set<KeptPlace>();

  /** Off after a reservation was not fetched: nothing starts before the worker asks for work again. */
  offering = true;
  generation = 0;
  #sequence = 0;

  constructor(registration: Registration, now: number) {
    this.workerId = registration.workerId;
    this.registration = registration;
    this.room = new Room(registration.slots, registration.filePool, registration.capacities);
    this.heardAt = now;
    this.closed = { lanes: registration.closed ?? [], toldAt: now };
  }

  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }
}
