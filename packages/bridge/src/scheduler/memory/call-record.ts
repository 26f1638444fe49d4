import type { CallOperation, Lane, Pause } from '@codelanes/protocol';
import type { QueuedCall } from '../queued-call.js';
import type { CallEnd } from '../store.js';
import type { StoredCall } from '../stored-call.js';
import type { WorkerRecord } from './worker-record.js';

/** The right to run one call: made when the call is delivered, ended by its settlement or by its time. */
export interface HeldLease {
  readonly callId: string;
  readonly worker: WorkerRecord;
  /** What it occupies; nothing for a read of instructions. */
  readonly claim: QueuedCall | undefined;
  readonly generation: number;
  /** What fences compare: generations may repeat after a restart, tokens do not. */
  readonly token: string;
  /** A later incarnation of the same journal does not hold it and has yet to say whether it ever started. */
  unresolved: boolean;
  /** A poll has told the worker to stop it; every renewal tells again. */
  cancelTold: boolean;
}

/** `withheld`: the worker answered `busy`, so the call is not offered before its next report. */
interface Waiting {
  readonly name: 'waiting';
  readonly withheld: boolean;
}

interface Reserved {
  readonly name: 'reserved';
}

interface Leased {
  readonly name: 'delivered' | 'running' | 'cancelling';
  readonly lease: HeldLease;
}

/** A script waits for its tools, of which `pause` tells; it occupies nothing. */
interface Paused {
  readonly name: 'paused';
}

interface Ended {
  readonly name: 'settled' | 'withdrawn' | 'interrupted';
  readonly end: CallEnd;
  /** Of the lease that settled it, to know the same settlement when it is repeated. */
  readonly token: string | undefined;
}

export type RecordState = Waiting | Reserved | Leased | Paused | Ended;

/** The latest pause of a script. */
export interface LatestPause {
  /** Of the lease under which it was paused, to know the same settlement when it is repeated. */
  readonly token: string;
  readonly said: Pause;
  readonly at: number;
  /** Until then its worker keeps it, unless it goes on before. */
  readonly until: number;
  /** What `awayMs` was by then. */
  readonly awayBeforeMs: number;
}

/** One call, from its submission until it is forgotten. */
export interface CallRecord {
  readonly callId: string;
  readonly worker: WorkerRecord;
  readonly principal: string;
  readonly lane: Lane;
  readonly claim: QueuedCall | undefined;
  /** As it was submitted or announced; unknown for a call that a worker held when it registered, dropped when a call ends. */
  call: StoredCall | undefined;
  /** Unknown only for a call of a caller that a worker held when it registered. */
  readonly operation: CallOperation | undefined;
  /** Of a setup: how long it may run, where that is known. */
  readonly boundMs: number | undefined;
  readonly submittedAt: number;
  /** When it entered the queue, or came back to it with what its tools came to. */
  queuedAt: number;
  /** When the rule last started it; of a script the first time. */
  startedAt: number;
  /** Time that a script was paused or waited to go on, until the rule last started it. */
  awayMs: number;
  /** Of a script that was paused, whatever came after it. */
  pause: LatestPause | undefined;
  state: RecordState;
  /** When it entered its state; of a waiting call when it was queued, of a cancelled one when it started. */
  since: number;
  revision: number;
}

/** A call that enters the queue at that place. */
export function newRecord(worker: WorkerRecord, call: StoredCall, sequence: number, now: number): CallRecord {
  const { callId, principal, lane, mode, pool, request } = call;
  return {
    callId,
    worker,
    principal,
    lane,
    claim: pool === 'none' ? undefined : { id: callId, lane, mode, pool, principal, sequence },
    call,
    operation: request.operation,
    boundMs: 'boundMs' in call ? call.boundMs : undefined,
    submittedAt: now,
    queuedAt: now,
    startedAt: now,
    awayMs: 0,
    pause: undefined,
    state: { name: 'waiting', withheld: false },
    since: now,
    revision: 0,
  };
}

/** Whether its script does not run, and is not in the hands of its worker under a lease. */
export function isOutOfHands({ pause, state }: CallRecord): boolean {
  return pause !== undefined && ['paused', 'waiting', 'reserved'].includes(state.name);
}

export function isEnded(state: RecordState): state is Ended {
  return state.name === 'settled' || state.name === 'withdrawn' || state.name === 'interrupted';
}

export function leaseOf(state: RecordState): HeldLease | undefined {
  return 'lease' in state ? state.lease : undefined;
}
