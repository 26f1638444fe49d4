import type { QueuedCall } from '../queued-call.js';
import type { CallEnd, NewCall } from '../store.js';
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

interface Ended {
  readonly name: 'settled' | 'withdrawn' | 'interrupted';
  readonly end: CallEnd;
  /** Of the lease that settled it, to know the same settlement when it is repeated. */
  readonly token: string | undefined;
}

export type RecordState = Waiting | Reserved | Leased | Ended;

/** One call, from its submission until it is forgotten. */
export interface CallRecord {
  readonly callId: string;
  readonly worker: WorkerRecord;
  readonly principal: string;
  readonly lane: NewCall['lane'];
  readonly claim: QueuedCall | undefined;
  /** As it was submitted; unknown for a call that a worker held when it registered, dropped when a call ends. */
  call: NewCall | undefined;
  readonly submittedAt: number;
  /** When the rule last started it. */
  startedAt: number;
  state: RecordState;
  /** When it entered its state; of a waiting call when it was submitted, of a cancelled one when it started. */
  since: number;
  revision: number;
}

export function isEnded(state: RecordState): state is Ended {
  return state.name === 'settled' || state.name === 'withdrawn' || state.name === 'interrupted';
}

export function leaseOf(state: RecordState): HeldLease | undefined {
  return 'lease' in state ? state.lease : undefined;
}
