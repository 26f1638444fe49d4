import type {
  Assignment,
  CallOperation,
  CallState,
  CallView,
  Capabilities,
  ClosedLane,
  HeldCall,
  Lane,
  LanesView,
  Lease,
  Pause,
  Pool,
  Report,
  Settlement,
  ToolCall,
  ToolResult,
  WaitingReason,
  WireError,
} from '@codelanes/protocol';
import type { NewCall } from './stored-call.js';

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
   * queue of the worker, or the share of it that one principal may fill; it says which), `CALL_ID_TAKEN`. Refused as
   * outdated where the grounds of the call, if it gives any, are not what is stored at that moment.
   */
  submit(call: NewCall): Promise<Submitted | SubmissionRefused>;

  /**
   * Takes a call out of the queue that has not been delivered; it never ran. At a `deadline` its place is kept
   * for a short while as a blocker that cannot start; at a disconnect or cancel none is. A call that was
   * delivered stays: from there on only the worker answers. A resumed call ran before: it leaves the queue too, but
   * is `interrupted` by that, which is the answer, and keeps no place. One that is paused is not in the queue.
   */
  withdraw(callId: string, why: WithdrawReason): Promise<Withdrawn>;

  /**
   * Asks for an end: a call that was not delivered is withdrawn, one that was is `cancelling` until its worker
   * settles it. A paused call, and a resumed one that was not delivered, is settled at once as `EXECUTION_ABORTED`,
   * and its worker hears of it among the cancellations: the script stands still, and never goes on.
   */
  cancel(callId: string): Promise<CallState | undefined>;

  /**
   * Hands every reserved call of the worker over (in the order in which they started), each under a new lease,
   * and what to cancel: each cancellation once, so that a poll may wait; `renew` repeats them, those of calls
   * without a lease (paused scripts that ended) for as long as a lease lives. After a reservation that was not
   * fetched in time nothing starts before the next fetch.
   *
   * Refused as `WORKER_NOT_FOUND` where the worker has registered anew since: a poll that was still open somewhere then
   * must win nothing, as nobody reads what it brings.
   */
  fetch(worker: RegistrationFence): Promise<Fetched | Refused>;

  /**
   * Takes what the worker says of calls it fetched, in that order; tells which reported starts are fenced. What
   * was answered `busy` keeps its place and is offered again after any report but `busy`, any settlement or a
   * registration. `denied` returns an unresolved call to its place, and is ignored of any other: it carries no
   * token, and a repeated one must not take a later delivery back. A call that was paused before has run, so that
   * `denied` interrupts it; `interrupted` ends it also where it is paused or waits to go on, without a lease. `closed` replaces the list of closed lanes,
   * which decides nothing here: the worker itself refuses what it was closed to.
   *
   * `unready` enters a setup of exactly that lane, unless one waits or runs there. It is the system's call: its place
   * is just before the oldest exclusive call of the lane that waits (or keeps a place), is reserved or was delivered,
   * and the end of the queue where there is none; so it overtakes nothing but what waits for it. It is shared, takes a
   * slot, is never refused, has no deadline in the queue, and stays there whichever bridge dies. For the rest it moves
   * as every call does: cancelled, returned to its place, renewed, settled. Interrupted or settled it is gone, and the
   * worker says `unready` again where that is so. Like `busy` it frees nothing, and offers nothing again.
   */
  report(
    worker: WorkerFence,
    reports: readonly Report[],
  ): Promise<{ readonly fenced: readonly string[] } | Refused>;

  /** Renews the leases that are still this worker's; tells which are lost and which calls to cancel. */
  renew(worker: WorkerFence, leases: readonly Lease[]): Promise<Renewed | Refused>;

  /**
   * Ends a call with the worker's word, or pauses it. Accepted once per lease, by token; repeating the same
   * settlement is accepted again and changes nothing. Tells the times of a call that it ended, of each call once at
   * most.
   *
   * A `paused` script gives up its lease, its lane and its slot, and keeps its place in the sequence. Until it is
   * resumed it is nobody's waiting call: it fills no queue, no bridge has to live for it, and it belongs to the
   * worker's incarnation alone, with which it ends `interrupted`. So it does `pausedMs` after its pause unless it was
   * delivered again by then, as its worker keeps it no longer. Not accepted, so that the worker ends its script: of a
   * call that is cancelled by then, which ends as cancelled, and of one that is no script.
   */
  settle(worker: WorkerFence, lease: Lease, settlement: Settlement | Pause): Promise<Settled>;

  /** What a call waits for that is paused now; `undefined` of every other. */
  paused(callId: string): Promise<PausedCall | undefined>;

  /**
   * Lets a paused call go on: it waits at its old place, ahead of every call that was submitted after it, to be
   * assigned as `resume_script` with these results. It has no deadline in the queue but that of its pause, is never
   * refused for a full queue, and belongs to no bridge, so that none has to live for it: whoever dies, the script
   * gets its results, and what becomes of it can be seen at any bridge. `not_paused` also where it was resumed
   * before, or waits for other tools than these are the results of, so that each pause is answered once; `undefined` where the call is unknown.
   */
  resume(callId: string, results: readonly ToolResult[]): Promise<Resumed | undefined>;

  /**
   * How a call ended, or `undefined` while it has not. It is remembered for a minute, if there is room for so many
   * results: else the oldest are forgotten earlier.
   */
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

  /**
   * Follows a call of this process from before it is submitted or resumed, for whoever sees it through: calls back soon
   * after each change of it. What it came to by then is asked for with `progress`.
   */
  follow(callId: string, workerId: string, listener: () => void): Follower;

  /** Calls back soon after each change of that call, until the returned function is called. */
  onCall(callId: string, listener: () => void): () => void;

  /** Calls back soon after there is something for the worker to fetch, until the returned function is called. */
  onWorker(workerId: string, listener: () => void): () => void;

  /**
   * Calls back with the lane of each command that begins to wait at that worker; where one store can tell cheaply that
   * nothing runs there, it need not. A hint that may be lost, and that nothing takes back.
   */
  onExpected(workerId: string, listener: (lane: Lane) => void): () => void;

  /**
   * Calls back once for each call that left the queue at its deadline, or that was interrupted, whoever waits for it:
   * of all who share what is stored, at the one whose transition ended it. Until the returned function is called.
   */
  onLoss(listener: (loss: Loss) => void): () => void;

  /** Stops timers; nothing waits on the store any more. */
  close(): Promise<void>;
}

export interface WorkerFence {
  readonly workerId: string;
  readonly incarnationId: string;
}

export interface RegistrationFence extends WorkerFence {
  readonly registrationId: string;
}

export interface Registration extends RegistrationFence {
  readonly journalId: string;
  readonly capabilities: Capabilities;
  /** Room for commands: the smaller of the worker's offer and the bridge's ceiling. */
  readonly slots: number;
  readonly filePool: number;
  readonly capacities: readonly NodeCapacity[];
  readonly holds: readonly HeldCall[];
  readonly takeOver: boolean;
  /** Lanes that the worker has closed; left out, none is. */
  readonly closed?: readonly ClosedLane[] | undefined;
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

/** Outdated: nobody has looked whether the call may be entered at the worker as it is now. */
export interface SubmissionRefused extends Refused {
  readonly isOutdated?: true | undefined;
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
  /** `false`: the lease is not the worker's any more, or its pause is of no use. */
  readonly accepted: boolean;
  /** Of a call that this very settlement ended. */
  readonly timing?: CallTiming | undefined;
}

/** What a paused call waits for. */
export interface PausedCall {
  readonly callId: string;
  readonly workerId: string;
  readonly principal: string;
  readonly toolCalls: readonly ToolCall[];
  /** What the script has written so far, from its start on. */
  readonly stdout: string;
  readonly pausedMs: number;
}

export type Resumed = 'resumed' | 'not_paused';

/** Where the time of an ended call went, in milliseconds by the clock of the store. */
export interface CallTiming {
  readonly operation: CallOperation;
  /** From its submission until the rule started it, the last time that it did; of a script the first. */
  readonly queuedMs: number;
  /** From its submission until it was settled, less the time in which it was paused or waited to go on. */
  readonly totalMs: number;
  /** Whether it ran in several stretches, of which its worker measured the last. */
  readonly wasPaused: boolean;
}

export interface WorkerLoad {
  /** Calls that take a slot or a place of the file pool, from their reservation on. */
  readonly running: readonly (CallCount & { readonly pool: Pool })[];
  readonly waiting: readonly CallCount[];
}

/** At least one call of an operation, which is unknown only of what a worker held when it registered. */
export interface CallCount {
  readonly operation: CallOperation | undefined;
  readonly calls: number;
}

/** A call that never ran as it waited too long, or one of which nobody knows whether it did. */
export interface Loss {
  readonly how: 'queue_timeout' | 'interrupted';
  readonly operation: CallOperation | undefined;
}

export interface WorkerView {
  readonly online: boolean;
  readonly leaseExpiresInMs: number;
  readonly capabilities: Capabilities;
  /** Another one whenever the capabilities have changed. */
  readonly capabilitiesId: string;
}

export interface OwnedCallView {
  readonly workerId: string;
  readonly principal: string;
  readonly view: CallView;
}

/** A call that is followed. */
export interface Follower {
  /**
   * How the call stands, `undefined` where it is unknown. After a change it may be what was told with that change, so that
   * it is as old as the call back; asked again without one, it is how the call stands now.
   */
  progress(): Promise<Progress | undefined>;
  stop(): void;
}

/** The state of a call that has not ended, or its end. */
export type Progress = CallEnd | { readonly how: 'open'; readonly state: CallState };

/** `interrupted` is an unknown outcome; a withdrawn call provably never ran. */
export type CallEnd =
  | { readonly how: 'settled'; readonly settlement: Settlement; readonly cancelled: boolean }
  | { readonly how: 'interrupted'; readonly reason: string }
  | { readonly how: 'withdrawn'; readonly why: WithdrawReason; readonly waited?: Waited | undefined };

/** Of a durable request that left the queue at its deadline: how long it waited, and for what in the end. */
export interface Waited {
  readonly waitedMs: number;
  readonly waitedFor: WaitingReason;
}
