import {
  assertLaneAdvertised,
  CodelanesError,
  describeLane,
  errorCodeSchema,
  isInstructionRead,
  laneKey,
  laneOf,
  limits,
  modeOf,
  operationKinds,
  withoutAlias,
} from '@codelanes/protocol';
import type {
  Assignment,
  Capabilities,
  Lease,
  Report,
  Settlement,
  WorkspaceToolResult,
} from '@codelanes/protocol';
import type { Logger } from 'pino';
import { withinTime } from '../clock/within-time.js';
import type { Connection } from '../connection/connection.js';
import { Holds } from '../lanes/holds.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import { runTool } from '../tools/run-tool.js';
import { capabilitiesOf, sharedReads } from './offer.js';
import { openLane } from './opened-lane.js';
import { settleOwedAudits } from './owed-audit.js';
import { runCommand } from './run-command.js';
import type { ServedRoot } from './served-root.js';
import { treeOf } from './served-tree.js';
import { Stopwatch } from './stopwatch.js';
import { toolContext } from './tool-setting.js';
import type { CommandSettings } from './wall.js';

export interface CallDeskOptions {
  readonly roots: readonly ServedRoot[];
  readonly slots: number;
  readonly connection: Pick<Connection, 'send'>;
  readonly log: Logger;
  /** `undefined` on a machine that cannot wall: then no command is run. */
  readonly commands: CommandSettings | undefined;
  /** Absolute path of ripgrep, where there is one. */
  readonly ripgrep: string | undefined;
}

interface Admitted {
  readonly root: ServedRoot;
  readonly assignment: Assignment;
}

/**
 * Where assignments arrive. The worker is the last judge: whatever the bridge hands out, a call runs only when
 * nothing held here conflicts with it, its lane is not quarantined, and no journal knows it.
 */
export class CallDesk {
  readonly #options: CallDeskOptions;
  readonly #roots: ReadonlyMap<string, ServedRoot>;
  readonly #capabilities: Capabilities;
  readonly #holds: Holds;
  readonly #log: Logger;
  readonly #running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  #closed = false;
  #answeredBusy = false;

  constructor(options: CallDeskOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#roots = new Map(options.roots.map((root) => [root.id, root]));
    this.#capabilities = capabilitiesOf(options.roots, options.commands !== undefined);
    const capacities = new Map(
      options.roots.flatMap(({ repositories }) =>
        repositories.map(({ lane, slots }) => [laneKey(lane), slots] as const),
      ),
    );
    this.#holds = new Holds(
      { slots: options.slots, filePool: limits.filePool, capacityOf: (key) => capacities.get(key) },
      (lane) => options.roots.some((root) => root.quarantine.blocks(lane) !== undefined),
    );
  }

  take(told: Assignment): void {
    const { callId } = told;
    if (this.#closed) {
      // Only `busy` carries the lease, by which the bridge takes a call back that this very incarnation fetched.
      this.#report({ ...leaseOf(told), state: 'busy' });
    } else if (this.#options.roots.some((root) => root.journal.knows(callId))) {
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
    const known = this.#options.roots.some((root) => root.journal.knows(callId));
    this.#report({ callId, state: known ? 'interrupted' : 'denied' });
  }

  /** Stops a call, if it runs here; its settlement says what came of it. */
  stop(callId: string): void {
    this.#running.get(callId)?.stop.abort();
  }

  /** A call has ended or a lane was given back: what was answered `busy` may be offered again. */
  freed(): void {
    if (this.#answeredBusy) this.#report({ state: 'freed' });
    this.#answeredBusy = false;
  }

  /** Takes nothing more; resolves when nothing runs. */
  async drain(): Promise<void> {
    this.#closed = true;
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  stopAll(): void {
    for (const { stop } of this.#running.values()) stop.abort();
  }

  #admit(told: Assignment): void {
    let admitted: Admitted;
    try {
      admitted = this.#asRequested(told);
    } catch (error) {
      this.#settle(told, rejected(error));
      return;
    }
    const { root, assignment } = admitted;
    const { callId, lane, mode, pool } = assignment;
    this.#judge(root, assignment, this.#holds.hold({ callId, lane, mode, pool }));
  }

  /**
   * What a call occupies follows from its request; the wire's word for it is never relied on.
   *
   * @throws {CodelanesError} `WORKER_MISMATCH` for a lane that is not offered here.
   */
  #asRequested(told: Assignment): Admitted {
    const { request } = told;
    assertLaneAdvertised(this.#capabilities, request);
    const fields = withoutAlias(this.#capabilities, request);
    const root = this.#roots.get(fields.workspaceId);
    if (root === undefined) {
      throw new CodelanesError('WORKER_MISMATCH', 'This worker does not serve that workspace.');
    }
    const assignment = {
      ...told,
      lane: laneOf(fields),
      mode: modeOf(request.operation, sharedReads),
      pool: isInstructionRead(request) ? 'none' : operationKinds[request.operation].pool,
    } as const;
    return { root, assignment };
  }

  #judge(root: ServedRoot, assignment: Assignment, judgement: ReturnType<Holds['hold']>): void {
    switch (judgement) {
      case 'accepted': {
        const stop = new AbortController();
        const done = this.#run(root, assignment, stop.signal);
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
        this.#settle(assignment, rejected(new CodelanesError('WORKSPACE_QUARANTINED', message), root));
      }
    }
  }

  async #run(root: ServedRoot, assignment: Assignment, signal: AbortSignal): Promise<void> {
    const log = this.#log.child(traceOf(assignment));
    const stopwatch = new Stopwatch();
    let settlement: Settlement;
    try {
      settlement = { status: 'fulfilled', result: await this.#perform(root, assignment, signal, stopwatch) };
    } catch (error) {
      if (!CodelanesError.is(error)) log.error({ err: error }, 'a call failed in the worker');
      settlement = rejected(error, root);
    }
    const ranMs = stopwatch.elapsedMs();
    // Nobody waits for the disk: what the journal still calls open is found gone at the next start.
    root.journal.end(assignment.callId).catch((error: unknown) => {
      log.error({ err: error }, 'the end of a call could not be journalled');
    });
    // Nothing of the call runs any more, or its lane is quarantined: the lane is free before the bridge hears.
    this.#holds.release(assignment.callId);
    this.#running.delete(assignment.callId);
    this.#settle(assignment, settlement, ranMs);
    const code = settlement.status === 'rejected' ? settlement.error.code : undefined;
    log.info({ operation: assignment.request.operation, ranMs: Math.round(ranMs), code }, 'a call ended');
    // The settlement of a call whose lease was lost tells the bridge nothing, or is never sent.
    this.freed();
  }

  async #perform(
    root: ServedRoot,
    assignment: Assignment,
    signal: AbortSignal,
    stopwatch: Stopwatch,
  ): Promise<WorkspaceToolResult> {
    const { request } = assignment;
    const { commands, connection, ripgrep, log } = this.#options;
    // A read of instructions holds no lane: the command whose audit is owed may be running now.
    const audits = { root, commands, log };
    if (assignment.pool !== 'none') await settleOwedAudits(audits, assignment.lane);
    const lane = openLane(root, assignment.lane);
    try {
      if (request.operation !== 'execute_command') {
        return await withinTime(assignment.executionMs, signal, (within) =>
          runTool(toolContext({ root, lane, assignment, ripgrep, signal: within }), request),
        );
      }
      if (commands === undefined) {
        throw new CodelanesError('COMMAND_DISABLED', 'This machine cannot wall a command, so none is run.');
      }
      const onStart = (init: ProcessIdentity) => {
        stopwatch.start();
        connection.send({ kind: 'started', lease: leaseOf(assignment), init });
      };
      const tree = treeOf(root, assignment.lane);
      const call = { root, tree, audits, assignment, request, signal, onStart };
      return await runCommand(commands(root, tree), call, lane);
    } finally {
      lane.close();
    }
  }

  #report(report: Report): void {
    this.#options.connection.send({ kind: 'report', report });
  }

  #settle(assignment: Assignment, settlement: Settlement, ranMs?: number): void {
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

/** Sentences for the operator name places of this machine; to a caller the root is called by its id. */
function rejected(error: unknown, root?: ServedRoot): Settlement {
  if (CodelanesError.is(error)) {
    const code = errorCodeSchema.parse(error.code);
    const shown = root === undefined ? error.message : error.message.replaceAll(root.path, root.id);
    return { status: 'rejected', error: { code, message: shown.slice(0, limits.errorMessageLength) } };
  }
  const message = 'The worker met a fault of its own; its log says more.';
  return { status: 'rejected', error: { code: 'INTERNAL_FAULT', message } };
}
