import type {
  Assignment,
  CallState,
  CallView,
  Capabilities,
  HeldCall,
  Lane,
  LanesView,
  Lease,
  Mode,
  Operation,
  Pool,
  QuarantinedLane,
  Report,
  Settlement,
  Trace,
  WaitingReason,
  WireError,
  WorkspaceToolRequest,
} from '@codelanes/protocol';

/**
 * The contract of a scheduler store. Every method is one atomic transition (or one consistent look); what a
 * reply says has happened, has happened. A store decides by the rule of DESIGN §4 and by nothing else, keeps
 * no counter that it does not derive from leases, and never lets two conflicting calls be reserved, delivered
 * or running at once. It holds no connection of a caller or worker and knows no HTTP.
 *
 * Not in the contract: long polls (dispatch waits on `onWorker` and `onCall`), gates, authentication.
 */
export interface SchedulerStore {
  /**
   * Takes in an incarnation of a worker, or what changed of the present one (slots, capabilities). The same
   * worker and journal replace the earlier incarnation at once; another journal is refused while the earlier
   * one's lease lives, unless it takes over. What the worker holds counts as running from here on, even where
   * this store never saw it or has ended it for its caller; of those it is asked to stop them, as nobody waits
   * for them any more. What this journal fetched and does not list is `unresolved`: it counts as running until
   * the journal has spoken of it, or its lease ends. So a worker registers with no poll open. Calls that another
   * journal had fetched are interrupted. A registration renews no lease.
   */
  register(registration: Registration): Promise<Registered | Refused>;

  /** The latest capabilities and whether the worker was heard from within its lease. */
  worker(workerId: string): Promise<WorkerView | undefined>;

  /**
   * Enters a call as waiting. A place that was kept for an identical call (same worker, principal and
   * fingerprint) goes to it. Refused: `WORKER_OFFLINE` (nothing heard within the lease), `WORKER_QUEUE_FULL` (the
   * queue of the worker, or the share of it that one principal may fill; it says which), `CALL_ID_TAKEN`.
   */
  submit(call: NewCall): Promise<Submitted | Refused>;

  /**
   * Takes a call out of the queue that has not been delivered; it never ran. At a `deadline` its place is kept
   * for a short while as a blocker that cannot start; at a disconnect or cancel none is. A call that was
   * delivered stays: from there on only the worker answers.
   */
  withdraw(callId: string, why: WithdrawReason): Promise<Withdrawn>;

  /**
   * Asks for an end: a call that was not delivered is withdrawn, one that was is `cancelling` until its worker
   * settles it.
   */
  cancel(callId: string): Promise<CallState | undefined>;

  /**
   * Hands every reserved call of the worker over (in the order in which they started), each under a new lease,
   * and what to cancel: each cancellation once, so that a poll may wait; `renew` repeats them. After a
   * reservation that was not fetched in time nothing starts before the next fetch.
   */
  fetch(worker: WorkerFence): Promise<Fetched | Refused>;

  /**
   * Takes what the worker says of calls it fetched, in that order; tells which reported starts are fenced. What
   * was answered `busy` keeps its place and is offered again after any report but `busy`, any settlement or a
   * registration. `denied` returns an unresolved call to its place, and is ignored of any other: it carries no
   * token, and a repeated one must not take a later delivery back. `quarantines` replaces the list of closed lanes,
   * which decides nothing here: the worker itself refuses what it was closed to.
   */
  report(
    worker: WorkerFence,
    reports: readonly Report[],
  ): Promise<{ readonly fenced: readonly string[] } | Refused>;

  /** Renews the leases that are still this worker's; tells which are lost and which calls to cancel. */
  renew(worker: WorkerFence, leases: readonly Lease[]): Promise<Renewed | Refused>;

  /**
   * Ends a call with the worker's word. Accepted once per lease, by token; repeating the same settlement is
   * accepted again and changes nothing. Tells the times of a call that it ended, of each call once at most.
   */
  settle(worker: WorkerFence, lease: Lease, settlement: Settlement): Promise<Settled>;

  /** How a call ended, while that is remembered (at least a minute), or `undefined` while it has not. */
  end(callId: string): Promise<CallEnd | undefined>;

  /** One call as its caller may see it; of calls of other principals only lane and age are told. */
  call(callId: string): Promise<OwnedCallView | undefined>;

  /** Everything of one worker, for an administrator. */
  lanes(workerId: string): Promise<LanesView | undefined>;

  /** How much runs and waits at a worker, as cheaply as it can be told. */
  load(workerId: string): Promise<WorkerLoad | undefined>;

  /** Every worker that registered and is not forgotten, whichever bridge it spoke to, by id. */
  workers(): Promise<readonly string[]>;

  /** Resolves where the store can serve; rejects with `STORE_UNAVAILABLE`. */
  ready(): Promise<void>;

  /** Calls back soon after each change of that call, until the returned function is called. */
  onCall(callId: string, listener: () => void): () => void;

  /** Calls back soon after there is something for the worker to fetch, until the returned function is called. */
  onWorker(workerId: string, listener: () => void): () => void;

  /** Stops timers; nothing waits on the store any more. */
  close(): Promise<void>;
}

export interface WorkerFence {
  readonly workerId: string;
  readonly incarnationId: string;
}

export interface Registration extends WorkerFence {
  readonly journalId: string;
  readonly capabilities: Capabilities;
  /** Room for commands: the smaller of the worker's offer and the bridge's ceiling. */
  readonly slots: number;
  readonly filePool: number;
  readonly capacities: readonly NodeCapacity[];
  readonly holds: readonly HeldCall[];
  readonly takeOver: boolean;
  /** Lanes that the worker has closed; left out, none is. */
  readonly quarantined?: readonly QuarantinedLane[] | undefined;
}

/** How many commands a lane and everything beneath it may run at once. */
export interface NodeCapacity {
  readonly lane: readonly string[];
  readonly commands: number;
}

export interface Registered {
  readonly ok: true;
  /** Calls that this journal fetched and does not hold; see the worker wire. */
  readonly unresolved: readonly string[];
}

export interface Refused {
  readonly ok: false;
  readonly error: WireError;
}

export interface NewCall {
  readonly callId: string;
  readonly workerId: string;
  readonly lane: Lane;
  readonly mode: Mode;
  /** `none`: no lane and no pool; it starts at once. */
  readonly pool: Pool | 'none';
  readonly principal: string;
  /** Digest of the canonical body: what makes a retry identical. */
  readonly fingerprint: string;
  readonly executionMs: number;
  readonly request: WorkspaceToolRequest;
  /** Goes to the worker with the call, for its log. */
  readonly trace?: Trace | undefined;
}

export interface Submitted {
  readonly ok: true;
  readonly state: 'waiting' | 'reserved';
}

export type WithdrawReason = 'deadline' | 'caller_gone' | 'cancelled';

export type Withdrawn =
  | { readonly withdrawn: true; readonly waitedFor: WaitingReason; readonly waitedMs: number }
  | { readonly withdrawn: false; readonly state: CallState | undefined };

export interface Fetched {
  readonly ok: true;
  readonly assignments: readonly Assignment[];
  readonly cancellations: readonly string[];
}

export interface Renewed {
  readonly ok: true;
  readonly lost: readonly string[];
  readonly cancellations: readonly string[];
}

export interface Settled {
  readonly accepted: boolean;
  /** Of a call that this very settlement ended. */
  readonly timing?: CallTiming | undefined;
}

/** Where the time of an ended call went, in milliseconds by the clock of the store. */
export interface CallTiming {
  readonly operation: Operation;
  /** From its submission until the rule started it, the last time that it did. */
  readonly queuedMs: number;
  /** From its submission until it was settled. */
  readonly totalMs: number;
}

export interface WorkerLoad {
  /** Calls that take a slot or a place of the file pool, from their reservation on. */
  readonly running: Readonly<Record<Pool, number>>;
  readonly waiting: number;
}

export interface WorkerView {
  readonly online: boolean;
  readonly leaseExpiresInMs: number;
  readonly capabilities: Capabilities;
}

export interface OwnedCallView {
  readonly workerId: string;
  readonly principal: string;
  readonly view: CallView;
}

/** `interrupted` is an unknown outcome; a withdrawn call provably never ran. */
export type CallEnd =
  | { readonly how: 'settled'; readonly settlement: Settlement; readonly cancelled: boolean }
  | { readonly how: 'interrupted'; readonly reason: string }
  | { readonly how: 'withdrawn'; readonly why: WithdrawReason };

/** Clocks of a store, in milliseconds; tests run them in tenths of a second. */
export interface SchedulerSettings {
  /** How long a lease and a worker's registration live after they were last heard of. */
  readonly leaseTtlMs: number;
  /** A reserved call that is not fetched within this returns to its place. */
  readonly fetchWithinMs: number;
  /** How long the place of a call that timed out in the queue is kept for its retry. */
  readonly placeKeptMs: number;
  /** How long an ended call is remembered. */
  readonly endRememberedMs: number;
  /** Waiting calls of one worker. */
  readonly queueLength: number;
  /** Of these, waiting calls of one principal. */
  readonly principalQueueLength: number;
}

export const defaultSchedulerSettings: SchedulerSettings = {
  leaseTtlMs: 30_000,
  fetchWithinMs: 2_000,
  placeKeptMs: 3_000,
  endRememberedMs: 60_000,
  queueLength: 1_000,
  principalQueueLength: 500,
};

/** Time as a store sees it; never goes back. */
export interface Clock {
  now(): number;
  /** Calls back once after that many milliseconds, unless cancelled by the returned function. */
  after(ms: number, callback: () => void): () => void;
}
