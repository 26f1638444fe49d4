import { CodelanesError, describeLane, errorCodeSchema, limits } from '@codelanes/protocol';
import type { Assignment, Lease, Report, Settlement, WorkspaceToolResult } from '@codelanes/protocol';
import type { Logger } from 'pino';
import type { Connection } from '../connection/connection.js';
import { Holds } from '../lanes/holds.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import { runTool } from '../tools/run-tool.js';
import { openLane } from './opened-lane.js';
import { settleOwedAudit } from './owed-audit.js';
import { runCommand, type CommandSetting } from './run-command.js';
import type { ServedRoot } from './served-root.js';
import { toolContext } from './tool-setting.js';

export interface CallDeskOptions {
  readonly roots: readonly ServedRoot[];
  readonly slots: number;
  readonly connection: Pick<Connection, 'send'>;
  readonly log: Logger;
  /** `undefined` on a machine that cannot wall: then no command is run. */
  readonly commands: ((root: ServedRoot) => CommandSetting) | undefined;
  /** Absolute path of ripgrep, where there is one. */
  readonly ripgrep: string | undefined;
}

/**
 * Where assignments arrive. The worker is the last judge: whatever the bridge hands out, a call runs only when
 * nothing held here conflicts with it, its lane is not quarantined, and no journal knows it.
 */
export class CallDesk {
  readonly #options: CallDeskOptions;
  readonly #roots: ReadonlyMap<string, ServedRoot>;
  readonly #holds: Holds;
  readonly #running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  #closed = false;
  #answeredBusy = false;

  constructor(options: CallDeskOptions) {
    this.#options = options;
    this.#roots = new Map(options.roots.map((root) => [root.id, root]));
    this.#holds = new Holds({ slots: options.slots, filePool: limits.filePool }, (lane) =>
      options.roots.some((root) => root.quarantine.blocks(lane) !== undefined),
    );
  }

  take(assignment: Assignment): void {
    const { callId, lane, pool } = assignment;
    const root = this.#roots.get(assignment.request.workspaceId);
    if (root === undefined) {
      this.#settle(
        assignment,
        rejected(new CodelanesError('WORKER_MISMATCH', 'This worker does not serve that workspace.')),
      );
    } else if (this.#closed) {
      // Only `busy` carries the lease, by which the bridge takes a call back that this very incarnation fetched.
      this.#report({ ...leaseOf(assignment), state: 'busy' });
    } else if (root.journal.knows(callId)) {
      this.#report({ callId, state: 'interrupted' });
    } else {
      this.#judge(root, assignment, this.#holds.hold({ callId, lane, mode: assignment.mode, pool }));
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

  /** Something else than an end of a call has made room: a lane was given back. */
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
        this.#settle(assignment, rejected(new CodelanesError('WORKSPACE_QUARANTINED', message)));
      }
    }
  }

  async #run(root: ServedRoot, assignment: Assignment, signal: AbortSignal): Promise<void> {
    let settlement: Settlement;
    try {
      settlement = { status: 'fulfilled', result: await this.#perform(root, assignment, signal) };
    } catch (error) {
      if (!CodelanesError.is(error)) {
        this.#options.log.error({ err: error, callId: assignment.callId }, 'a call failed in the worker');
      }
      settlement = rejected(error);
    }
    await root.journal.end(assignment.callId);
    // Nothing of the call runs any more, or its lane is quarantined: the lane is free before the bridge hears.
    this.#holds.release(assignment.callId);
    this.#running.delete(assignment.callId);
    this.#answeredBusy = false;
    this.#settle(assignment, settlement);
  }

  async #perform(
    root: ServedRoot,
    assignment: Assignment,
    signal: AbortSignal,
  ): Promise<WorkspaceToolResult> {
    const { request } = assignment;
    const { commands, connection, ripgrep, log } = this.#options;
    await settleOwedAudit(root, commands?.(root), log);
    const lane = openLane(root, request);
    try {
      if (request.operation !== 'execute_command') {
        return await runTool(toolContext({ root, lane, assignment, ripgrep, signal }), request);
      }
      if (commands === undefined) {
        throw new CodelanesError('COMMAND_DISABLED', 'This machine cannot wall a command, so none is run.');
      }
      const onStart = (init: ProcessIdentity) => {
        connection.send({ kind: 'started', lease: leaseOf(assignment), init });
      };
      return await runCommand(commands(root), { root, assignment, request, signal, onStart }, lane);
    } finally {
      lane.close();
    }
  }

  #report(report: Report): void {
    this.#options.connection.send({ kind: 'report', report });
  }

  #settle(assignment: Assignment, settlement: Settlement): void {
    this.#options.connection.send({ kind: 'settle', lease: leaseOf(assignment), settlement });
  }
}

function leaseOf({ callId, generation, token }: Assignment): Lease {
  return { callId, generation, token };
}

function rejected(error: unknown): Settlement {
  if (CodelanesError.is(error)) {
    const code = errorCodeSchema.parse(error.code);
    return {
      status: 'rejected',
      error: { code, message: error.message.slice(0, limits.errorMessageLength) },
    };
  }
  const message = 'The worker met a fault of its own; its log says more.';
  return { status: 'rejected', error: { code: 'INTERNAL_FAULT', message } };
}
