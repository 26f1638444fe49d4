import { CodelanesError, limits } from '@codelanes/protocol';
import type { Assignment, ExecuteCommandRequest, ExecuteCommandResult } from '@codelanes/protocol';
import { runInLane, type BuiltAhead, type LaneCommand, type LaneOutcome } from '../commands/run-in-lane.js';
import { FileRefusal } from '../files/refusal.js';
import type { NetworkPolicy } from '../environment/network-policy.js';
import type { LaneHead } from '../lanes/lane-head.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import type { NetworkHost } from '../network/network-host.js';
import type { MachineFacts } from '../sandbox/machine-facts.js';
import type { SharedCache } from '../sandbox/shared-cache.js';
import type { Standby } from '../sandbox/standby.js';
import type { SharedFolders } from '../sandbox/worker-folders.js';
import { CallRecords } from './call-records.js';
import type { OpenedLane } from './opened-lane.js';
import type { AuditSetting } from './owed-audit.js';
import { homeOwner, type ServedRoot } from './served-root.js';
import type { ServedTree } from './served-tree.js';

/** What every command of a tree is run with. */
export interface CommandSetting {
  readonly machine: MachineFacts;
  readonly shared: SharedFolders;
  /** What commands may reach, and who lets them. */
  readonly network: NetworkPolicy;
  readonly networkHost: NetworkHost;
  /** What the definition lets its commands share. */
  readonly caches: readonly SharedCache[];
  /** Processes that were started ahead of their sandboxes. */
  readonly standby?: Standby | undefined;
  /** Milliseconds between the polite signal and the kill. */
  readonly killGraceMs: number;
  /** How long what was killed may take to be gone before its lane is quarantined, in milliseconds. */
  readonly goneWithinMs: number;
}

export interface CommandCall {
  readonly root: ServedRoot;
  readonly tree: ServedTree;
  /** What the command is told in its last lines, whatever comes of it. */
  readonly notices?: readonly string[] | undefined;
  /** With what audits beneath the lane are done. */
  readonly audits: AuditSetting;
  readonly assignment: Pick<Assignment, 'callId' | 'lane' | 'executionMs'>;
  readonly signal: AbortSignal;
  /** Called when a start is on disk and right before the process may run. */
  readonly onStart: (init: ProcessIdentity) => void;
  /** Called when nothing of it can run any more and its lane is in order, before there is a result. */
  readonly onFree?: (() => void) | undefined;
}

/** What is run in the wall of a lane. */
export type WalledCommand = Pick<
  LaneCommand,
  'command' | 'variables' | 'timeoutMs' | 'maxOutputBytes' | 'onOutput'
> & {
  /** Relative to the top of the lane, which it is by default. */
  readonly cwd?: string | undefined;
  /** A sandbox of this lane that was built ahead. */
  readonly built?: BuiltAhead | undefined;
};

/**
 * Runs what a caller asked for, as `runWalled` does.
 *
 * @throws {CodelanesError} saying why nothing ran, or `EXECUTION_ABORTED` for a command that was cancelled.
 */
export async function runCommand(
  setting: CommandSetting,
  call: CommandCall,
  request: ExecuteCommandRequest,
  lane: OpenedLane,
  built: BuiltAhead | undefined,
): Promise<ExecuteCommandResult> {
  const { command, cwd, maxOutputBytes = limits.commandDefaultOutputBytes } = request;
  const walled = { command, cwd, built, timeoutMs: call.assignment.executionMs, maxOutputBytes };
  const outcome = await runWalled(setting, call, walled, lane);
  // While something may still write into the lane nothing of it is read.
  return resultOf(request, outcome, outcome.gone ? await lane.head?.() : undefined);
}

/**
 * Runs one command walled into its lane, which was verified when the call was admitted and is verified once more while
 * the sandbox is built. Every start is on disk before it happens; at a checkout the snapshot for the audit too. A lane
 * of which something may be left is quarantined.
 *
 * @param lane as admitted; it stays open, and is closed, by whoever admitted it.
 * @throws {CodelanesError} saying why nothing ran.
 */
export function runWalled(
  setting: CommandSetting,
  call: CommandCall,
  command: WalledCommand,
  lane: OpenedLane,
): Promise<LaneOutcome> {
  return new CommandRun(setting, call, command, lane).run();
}

class CommandRun {
  readonly #setting: CommandSetting;
  readonly #call: CommandCall;
  readonly #command: WalledCommand;
  readonly #lane: OpenedLane;
  readonly #records: CallRecords;
  #init: ProcessIdentity | undefined;

  constructor(setting: CommandSetting, call: CommandCall, command: WalledCommand, lane: OpenedLane) {
    this.#setting = setting;
    this.#call = call;
    this.#command = command;
    this.#lane = lane;
    this.#records = new CallRecords(call, lane);
  }

  async run(): Promise<LaneOutcome> {
    let audited = false;
    try {
      const outcome = await this.#execute();
      // While something may still write into the checkout an audit proves nothing, so it stays owed.
      audited = outcome.gone;
      if (outcome.quarantine !== undefined) {
        const processes = outcome.gone || this.#init === undefined ? [] : [this.#init];
        await this.#records.quarantine(outcome.quarantine, processes);
      }
      return outcome;
    } finally {
      const isOwed = this.#init !== undefined && !audited;
      if (!isOwed) this.#records.settled();
    }
  }

  #execute(): Promise<LaneOutcome> {
    const { machine, shared, network, networkHost, caches, standby, killGraceMs, goneWithinMs } =
      this.#setting;
    const { root, assignment, signal, onStart, onFree, notices = [] } = this.#call;
    const { cwd, ...command } = this.#command;
    return runInLane({
      lane: this.#lane.facts,
      home: homeOwner(root, assignment.lane, this.#lane),
      machine,
      shared,
      network,
      networkHost,
      caches,
      standby,
      ...command,
      directory: startingIn(this.#lane, cwd),
      graceMs: killGraceMs,
      goneWithinMs,
      signal,
      journalId: root.journal.id,
      verifyAgain: () => {
        this.#records.verifyAgain();
      },
      lookBeneath: async (wasStopped) => [...notices, ...(await this.#records.lookBeneath(wasStopped))],
      journalStart: (record) => this.#records.write(record),
      onFree,
      onStart: (init) => {
        this.#init = init;
        onStart(init);
      },
    });
  }
}

function resultOf(
  request: ExecuteCommandRequest,
  outcome: LaneOutcome,
  laneGit: LaneHead | undefined,
): ExecuteCommandResult {
  if (outcome.ending.kind === 'cancelled') {
    throw new CodelanesError('EXECUTION_ABORTED', 'The command was stopped on request while it ran.');
  }
  const { exitCode, signal, stdout, stderr, truncated, timedOut } = outcome;
  return {
    protocolVersion: 1,
    operation: 'execute_command',
    workspaceId: request.workspaceId,
    exitCode,
    ...(signal === undefined ? {} : { signal }),
    stdout,
    stderr,
    truncated,
    timedOut,
    ...(laneGit === undefined ? {} : { laneGit }),
  };
}

/** A folder that can be started in; undefined for the top of the lane. */
function startingIn(lane: OpenedLane, cwd: string | undefined): string | undefined {
  if (cwd === undefined || cwd === '.') return undefined;
  try {
    lane.directory.walk(cwd.split('/')).close();
    return cwd;
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    throw new CodelanesError('INVALID_PATH', `The command cannot start in "${cwd}": ${error.message}`, {
      cause: error,
    });
  }
}
