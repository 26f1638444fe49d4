import { CodelanesError, describeLane, limits } from '@codelanes/protocol';
import type { Assignment, ExecuteCommandRequest, ExecuteCommandResult } from '@codelanes/protocol';
import { runInLane, type LaneOutcome, type StartRecord } from '../commands/run-in-lane.js';
import { FileRefusal } from '../files/refusal.js';
import type { NetworkPolicy } from '../environment/network-policy.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import type { NetworkHost } from '../network/network-host.js';
import { laneTop } from '../sandbox/lane-facts.js';
import type { MachineFacts } from '../sandbox/machine-facts.js';
import type { SharedFolders } from '../sandbox/worker-folders.js';
import { openLane, type OpenedLane } from './opened-lane.js';
import type { AuditSetting } from './owed-audit.js';
import { RepositoriesBeneath } from './repositories-beneath.js';
import { homeKey, type ServedRoot } from './served-root.js';
import type { ServedTree } from './served-tree.js';
import { forgetSnapshot, keepSnapshot } from './snapshot-file.js';

/** What every command of a tree is run with. */
export interface CommandSetting {
  readonly machine: MachineFacts;
  readonly shared: SharedFolders;
  /** What commands may reach, and who lets them. */
  readonly network: NetworkPolicy;
  readonly networkHost: NetworkHost;
  /** Milliseconds between the polite signal and the kill. */
  readonly killGraceMs: number;
  /** How long what was killed may take to be gone before its lane is quarantined, in milliseconds. */
  readonly goneWithinMs: number;
}

export interface CommandCall {
  readonly root: ServedRoot;
  readonly tree: ServedTree;
  /** With what audits beneath the lane are done. */
  readonly audits: AuditSetting;
  readonly assignment: Assignment;
  readonly request: ExecuteCommandRequest;
  readonly signal: AbortSignal;
  /** Called when a start is on disk and right before the process may run. */
  readonly onStart: (init: ProcessIdentity) => void;
}

/**
 * Runs one command walled into its lane, which was verified when the call was admitted and is verified once more while
 * the sandbox is built. Every start is on disk before it happens; at a checkout the snapshot for the audit too. A lane
 * of which something may be left is quarantined.
 *
 * @param lane as admitted; it stays open, and is closed, by whoever admitted it.
 * @throws {CodelanesError} saying why nothing ran, or `EXECUTION_ABORTED` for a command that was cancelled.
 */
export function runCommand(
  setting: CommandSetting,
  call: CommandCall,
  lane: OpenedLane,
): Promise<ExecuteCommandResult> {
  return new CommandRun(setting, call, lane).run();
}

class CommandRun {
  readonly #setting: CommandSetting;
  readonly #call: CommandCall;
  readonly #lane: OpenedLane;
  #beneath: RepositoriesBeneath | undefined;
  #init: ProcessIdentity | undefined;

  constructor(setting: CommandSetting, call: CommandCall, lane: OpenedLane) {
    this.#setting = setting;
    this.#call = call;
    this.#lane = lane;
  }

  async run(): Promise<ExecuteCommandResult> {
    const { tree, request } = this.#call;
    let audited = false;
    try {
      const outcome = await this.#execute();
      // While something may still write into the checkout an audit proves nothing, so it stays owed.
      audited = outcome.gone;
      if (outcome.quarantine !== undefined) await this.#quarantine(outcome.quarantine, outcome.gone);
      return resultOf(request, outcome);
    } finally {
      const isOwed = this.#init !== undefined && !audited;
      if (!isOwed) {
        if (this.#lane.facts.kind === 'checkout') forgetSnapshot(tree.stateDir);
        this.#beneath?.forget();
      }
    }
  }

  #execute(): Promise<LaneOutcome> {
    const { machine, shared, network, networkHost, killGraceMs, goneWithinMs } = this.#setting;
    const { root, audits, assignment, request, signal, onStart } = this.#call;
    return runInLane({
      lane: this.#lane.facts,
      homeKey: homeKey(root, assignment.lane),
      machine,
      shared,
      network,
      networkHost,
      workingDirectory: workingDirectoryOf(this.#lane, request.cwd),
      command: request.command,
      timeoutMs: assignment.executionMs,
      maxOutputBytes: request.maxOutputBytes ?? limits.commandDefaultOutputBytes,
      graceMs: killGraceMs,
      goneWithinMs,
      signal,
      journalId: root.journal.id,
      verifyAgain: () => {
        openLane(root, assignment.lane, this.#lane.identity).close();
        this.#beneath = RepositoriesBeneath.look(audits, assignment.lane);
      },
      lookBeneath: (wasStopped) => this.#beneath?.audit(wasStopped) ?? Promise.resolve([]),
      journalStart: (record) => this.#record(record),
      onStart: (init) => {
        this.#init = init;
        onStart(init);
      },
    });
  }

  async #record({ stage, init, snapshot }: StartRecord): Promise<void> {
    const { root, tree, assignment } = this.#call;
    const start = { call: assignment.callId, lane: assignment.lane, process: init };
    if (snapshot !== undefined) await keepSnapshot(tree.stateDir, snapshot);
    if (stage === 'command') await this.#beneath?.keep();
    await (stage === 'command' ? root.journal.startCommand(start) : root.journal.continueCommand(start));
  }

  async #quarantine(reason: string, gone: boolean): Promise<void> {
    const { root, assignment } = this.#call;
    const processes = gone || this.#init === undefined ? [] : [this.#init];
    const sentence = `Call ${assignment.callId} left ${describeLane(assignment.lane)} in doubt. ${reason}`;
    await root.quarantine.add(assignment.lane, sentence, processes);
  }
}

function resultOf(request: ExecuteCommandRequest, outcome: LaneOutcome): ExecuteCommandResult {
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
  };
}

function workingDirectoryOf(lane: OpenedLane, cwd: string | undefined): string {
  const top = laneTop(lane.facts);
  if (cwd === undefined || cwd === '.') return top;
  try {
    lane.directory.walk(cwd.split('/')).close();
    return `${top}/${cwd}`;
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    throw new CodelanesError('INVALID_PATH', `The command cannot start in "${cwd}": ${error.message}`, {
      cause: error,
    });
  }
}
