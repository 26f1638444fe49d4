import { CodelanesError, describeLane, laneKey, limits } from '@codelanes/protocol';
import type { Assignment, Lane, Lease, Pause, Report, Settlement } from '@codelanes/protocol';
import type { Logger } from 'pino';
import type { Connection } from '../connection/connection.js';
import type { ClosedSince } from '../connection/messages.js';
import { Holds } from '../lanes/holds.js';
import type { Journal } from '../lanes/journal.js';
import { LaneSetups, LaneUnready } from './lane-setups.js';
import { OfferedRoots, type Requested } from './offered-roots.js';
import { performCall, type CallToPerform } from './perform-call.js';
import { SandboxesAhead } from './sandboxes-ahead.js';
import { rejected } from './rejected.js';
import { notPaused, Scripts, type ScriptsOptions } from './scripts.js';
import type { ServedRoot } from './served-root.js';
import { Stopwatch } from './stopwatch.js';
import type { CommandSettings } from './wall.js';

export interface CallDeskOptions {
  /** Those that are offered. */
  readonly roots: readonly ServedRoot[];
  /** Of every root that the worker holds, offered or not; by default of those that are. */
  readonly journals?: readonly Pick<Journal, 'knows'>[] | undefined;
  readonly slots: number;
  readonly connection: Pick<Connection, 'send'>;
  readonly log: Logger;
  /** `undefined` on a machine that cannot wall: then no command is run. */
  readonly commands: CommandSettings | undefined;
  /** With what scripts are run, and how long one may wait for its tools; without it none is run. */
  readonly scripts?: Pick<ScriptsOptions, 'programs' | 'pausedMs'> | undefined;
  /** Told whenever other setups may have failed than before. */
  readonly onFailedSetups?: (() => void) | undefined;
  /** How long a sandbox that was built ahead waits for its command, in milliseconds. */
  readonly sandboxKeptMs?: number | undefined;
  /** Absolute path of ripgrep, where there is one. */
  readonly ripgrep: string | undefined;
}

/**
 * Where assignments arrive. The worker is the last judge: whatever the bridge hands out, a call runs only when
 * nothing held here conflicts with it, its lane is not quarantined, and no journal knows it.
 */
export class CallDesk {
  readonly #options: CallDeskOptions;
  readonly #offered: OfferedRoots;
  readonly #holds: Holds;
  readonly #setups: LaneSetups;
  readonly #scripts: Scripts;
  readonly #ahead: SandboxesAhead;
  readonly #log: Logger;
  readonly #running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  #closed = false;
  #answeredBusy = false;

  constructor(options: CallDeskOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#offered = new OfferedRoots(options.roots, options.commands !== undefined);
    const { roots, connection, log, onFailedSetups: onFailures = () => undefined } = options;
    const report = (said: Report) => {
      connection.send({ kind: 'report', report: said });
    };
    this.#setups = new LaneSetups({ roots, report, onFailures, log });
    this.#scripts = new Scripts({ programs: undefined, ...options.scripts, report, log });
    this.#ahead = new SandboxesAhead(options.commands, options.sandboxKeptMs);
    this.#holds = new Holds(
      { slots: options.slots, filePool: limits.filePool, capacityOf: (key) => this.#offered.slotsOf(key) },
      (lane) => options.roots.some((root) => root.quarantine.blocks(lane) !== undefined),
    );
  }

  take(told: Assignment): void {
    const { callId } = told;
    if (this.#closed) {
      // Only `busy` carries the lease, by which the bridge takes a call back that this very incarnation fetched.
      this.#report({ ...leaseOf(told), state: 'busy' });
    } else if (this.#knows(callId) && told.request.operation !== 'resume_script') {
      // The bridge has forgotten that it was begun, and with it the lease under which it may still run.
      void this.resolve(callId);
    } else {
      this.#admit(told);
    }
  }

  /**
   * What became of a call that was fetched and is not held: only a journal that does not know it may deny it, and
   * only when it is certain not to start here any more.
   */
  async resolve(callId: string): Promise<void> {
    const running = this.#running.get(callId);
    running?.stop.abort();
    await running?.done;
    await this.#scripts.kill(callId);
    const known = this.#knows(callId);
    this.#report({ callId, state: known ? 'interrupted' : 'denied' });
  }

  /** Whether a call was begun here, ever. */
  #knows(callId: string): boolean {
    const { roots, journals } = this.#options;
    return (journals ?? roots.map(({ journal }) => journal)).some((journal) => journal.knows(callId));
  }

  /** Stops a call, if it runs or waits here; the settlement of one that runs says what came of it. */
  stop(callId: string): void {
    this.#running.get(callId)?.stop.abort();
    void this.#scripts.kill(callId);
  }

  /** A command is said to wait for a lane in which one runs. */
  expect(lane: Lane): void {
    const key = laneKey(lane);
    const runs = this.#holds.listHeld().some((held) => held.pool === 'command' && laneKey(held.lane) === key);
    if (runs) this.#ahead.expect(lane);
  }

  /** The lanes in which commands are refused because their setup has failed, as of now. */
  get failedSetups(): readonly ClosedSince[] {
    return this.#setups.failed;
  }

  /** The setups that are to run by themselves are told to a bridge that may not know of them. */
  announceSetups(): void {
    this.#setups.announceAll();
  }

  /** Takes what operators ask of setups, until the returned function is called. */
  watchSetups(): () => void {
    return this.#setups.watch();
  }

  /** A call has ended or a lane was given back: what was answered `busy` may be offered again. */
  freed(): void {
    if (this.#answeredBusy) this.#report({ state: 'freed' });
    this.#answeredBusy = false;
  }

  /** Takes nothing more; resolves when nothing runs. */
  async drain(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#ahead.close(), this.#scripts.close()]);
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  stopAll(): void {
    for (const { stop } of this.#running.values()) stop.abort();
  }

  #admit(told: Assignment): void {
    let requested: Requested;
    try {
      requested = this.#offered.asRequested(told);
    } catch (error) {
      this.#refuse(told, error);
      return;
    }
    const { root, assignment } = requested;
    const { callId, lane, mode, pool, request } = assignment;
    if (request.operation === 'resume_script' && !this.#scripts.isPaused(callId, lane)) {
      this.#settle(told, rejected(notPaused()));
      return;
    }
    this.#judge(root, assignment, this.#holds.hold({ callId, lane, mode, pool }));
  }

  #judge(root: ServedRoot, assignment: Assignment, judgement: ReturnType<Holds['hold']>): void {
    switch (judgement) {
      case 'accepted': {
        const ahead = this.#ahead.admit(assignment);
        const stop = new AbortController();
        const onFree = () => {
          if (!this.#closed) this.#ahead.build(root, assignment.lane);
        };
        const done = this.#run({ root, assignment, signal: stop.signal, ahead, onFree });
        this.#running.set(assignment.callId, { stop, done });
        return;
      }
      case 'busy':
        this.#answeredBusy = true;
        this.#report({ ...leaseOf(assignment), state: 'busy' });
        return;
      case 'quarantined': {
        const why = root.quarantine.blocks(assignment.lane)?.reason ?? 'It is quarantined.';
        const message = `The lane ${describeLane(assignment.lane)} is closed. ${why}`;
        this.#refuse(assignment, new CodelanesError('WORKSPACE_QUARANTINED', message), root);
      }
    }
  }

  /** A script that has half run is refused as one that was ended: by another code its caller would repeat it whole. */
  #refuse(told: Assignment, why: unknown, root?: ServedRoot): void {
    const isHalfRun = told.request.operation === 'resume_script' && CodelanesError.is(why);
    this.#settle(told, rejected(isHalfRun ? notPaused(why.message) : why, root));
    void this.#scripts.kill(told.callId);
  }

  async #run(admitted: Omit<CallToPerform, 'stopwatch'>): Promise<void> {
    const { root, assignment } = admitted;
    const log = this.#log.child(traceOf(assignment));
    const stopwatch = new Stopwatch();
    const call = { ...admitted, stopwatch };
    let settlement: Settlement | Pause;
    try {
      const setting = { ...this.#options, setups: this.#setups, scripts: this.#scripts };
      settlement = await performCall(setting, call);
    } catch (error) {
      if (error instanceof LaneUnready) {
        this.#giveBack(assignment, error);
        return;
      }
      if (!CodelanesError.is(error)) log.error({ err: error }, 'a call failed in the worker');
      settlement = rejected(error, root);
    }
    const ranMs = stopwatch.elapsedMs();
    if (settlement.status !== 'paused') {
      // Nobody waits for the disk: what the journal still calls open is found gone at the next start.
      root.journal.end(assignment.callId).catch((error: unknown) => {
        log.error({ err: error }, 'the end of a call could not be journalled');
      });
    }
    // Nothing of the call runs any more, or its lane is quarantined: the lane is free before the bridge hears.
    this.#holds.release(assignment.callId);
    this.#running.delete(assignment.callId);
    // Before the caller hears: what it sends next finds the setup of a new worktree ahead of it.
    if (assignment.pool === 'command') this.#lookBeneath(root, assignment.lane, log);
    this.#settle(assignment, settlement, ranMs);
    const code = settlement.status === 'rejected' ? settlement.error.code : undefined;
    const how = settlement.status === 'paused' ? 'a call waits for its tools' : 'a call ended';
    log.info({ operation: assignment.request.operation, ranMs: Math.round(ranMs), code }, how);
    // The settlement of a call whose lease was lost tells the bridge nothing, or is never sent.
    this.freed();
  }

  /** Whatever the command left there, its caller gets the result. */
  #lookBeneath(root: ServedRoot, lane: Lane, log: Logger): void {
    try {
      this.#setups.lookBeneath(root, lane);
    } catch (error) {
      log.error({ err: error }, 'what a command left in its lane could not be looked at');
    }
  }

  /** Nothing of the call has begun: it keeps its place behind the setup that the bridge is to ask for. */
  #giveBack(assignment: Assignment, unready: LaneUnready): void {
    this.#holds.release(assignment.callId);
    this.#running.delete(assignment.callId);
    this.#report(unready.report);
    // For this call there is no more room than before, and to say otherwise would have it offered at once.
    this.freed();
    this.#answeredBusy = true;
    this.#report({ ...leaseOf(assignment), state: 'busy' });
  }

  #report(report: Report): void {
    this.#options.connection.send({ kind: 'report', report });
  }

  #settle(assignment: Assignment, settlement: Settlement | Pause, ranMs?: number): void {
    this.#options.connection.send({ kind: 'settle', lease: leaseOf(assignment), settlement, ranMs });
  }
}

/** By what a call is found again in the logs of its caller and of the bridge. */
function traceOf({ callId, requestId, traceparent }: Assignment) {
  return { callId, requestId, traceparent };
}

function leaseOf({ callId, generation, token }: Assignment): Lease {
  return { callId, generation, token };
}
