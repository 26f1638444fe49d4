import { CodelanesError, laneKey, limits } from '@codelanes/protocol';
import type { Assignment, ExecuteCommandRequest, ExecuteCommandResult } from '@codelanes/protocol';
import { executeCommand, type CommandOutcome, type Ended } from '../commands/execute-command.js';
import { FileRefusal } from '../files/refusal.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import type { AuditResult } from '../sandbox/audit/audit.js';
import { clearIndexLock } from '../sandbox/index-lock.js';
import { laneTop } from '../sandbox/lane-facts.js';
import { openLaneSandbox, type LaneSandbox } from '../sandbox/lane-sandbox.js';
import type { MachineFacts } from '../sandbox/machine-facts.js';
import { laneFolders, type SharedFolders } from '../sandbox/worker-folders.js';
import { beginAudit, type CheckoutAudit } from './checkout-audit.js';
import { openLane, type OpenedLane } from './opened-lane.js';
import type { ServedRoot } from './served-root.js';

/** What every command of a worker is run with. */
export interface CommandSetting {
  readonly machine: MachineFacts;
  readonly folders: SharedFolders;
  readonly journalMark: string;
  /** Milliseconds between the polite signal and the kill. */
  readonly killGraceMs: number;
  /** Milliseconds that what was killed may take to be gone. */
  readonly goneWithinMs: number;
}

export interface CommandCall {
  readonly root: ServedRoot;
  readonly assignment: Assignment;
  readonly request: ExecuteCommandRequest;
  readonly signal: AbortSignal;
  /** Called when the start is on disk and right before the command may run. */
  readonly onStart: (init: ProcessIdentity) => void;
}

/**
 * Runs one command walled into its lane: verifies the lane a second time, starts the sandbox behind its gate
 * with a journal entry, and when everything of it is gone audits a checkout and clears what a killed Git left.
 *
 * @throws {CodelanesError} saying why nothing ran, or `EXECUTION_ABORTED` for a command that was cancelled.
 */
export async function runCommand(
  setting: CommandSetting,
  call: CommandCall,
  admitted: OpenedLane,
): Promise<ExecuteCommandResult> {
  const lane = openLane(call.root, call.request, admitted.identity);
  try {
    return await new CommandRun(setting, call, lane).run();
  } finally {
    lane.close();
  }
}

class CommandRun {
  readonly #setting: CommandSetting;
  readonly #call: CommandCall;
  readonly #lane: OpenedLane;
  #audit: CheckoutAudit | undefined;
  #init: ProcessIdentity | undefined;

  constructor(setting: CommandSetting, call: CommandCall, lane: OpenedLane) {
    this.#setting = setting;
    this.#call = call;
    this.#lane = lane;
  }

  async run(): Promise<ExecuteCommandResult> {
    const { facts } = this.#lane;
    const { root, assignment, request } = this.#call;
    const sandbox = openLaneSandbox(facts, {
      machine: this.#setting.machine,
      folders: laneFolders(this.#setting.folders, laneKey(assignment.lane)),
      workingDirectory: workingDirectoryOf(this.#lane, request.cwd),
    });
    try {
      if (facts.kind === 'checkout') this.#audit = await beginAudit(root.stateDir, facts);
      return resultOf(request, await this.#execute(sandbox));
    } finally {
      sandbox.close();
      // Nothing ran, so there is nothing to compare; the snapshot must not outlive the call.
      if (this.#init === undefined) this.#audit?.finish();
    }
  }

  #execute({ policy, descriptors }: LaneSandbox): Promise<CommandOutcome> {
    const { machine, journalMark, killGraceMs, goneWithinMs } = this.#setting;
    const { assignment, request, signal } = this.#call;
    return executeCommand({
      policy,
      descriptors,
      command: request.command,
      shell: machine.shell,
      journalId: journalMark,
      journalStart: (init) => this.#start(init),
      signal,
      timeoutMs: assignment.executionMs,
      maxOutputBytes: request.maxOutputBytes ?? limits.commandDefaultOutputBytes,
      graceMs: killGraceMs,
      goneWithinMs,
      afterwards: (ended) => this.#cleanUp(ended),
    });
  }

  async #start(init: ProcessIdentity): Promise<void> {
    const { root, assignment, onStart } = this.#call;
    await root.journal.startCommand({ call: assignment.callId, lane: assignment.lane, process: init });
    this.#init = init;
    onStart(init);
  }

  async #cleanUp({ ending, gone }: Ended): Promise<readonly string[]> {
    const { assignment } = this.#call;
    if (!gone) {
      const reason = `Processes of call ${assignment.callId} could not be shown to be gone.`;
      return this.#quarantine(reason, this.#init === undefined ? [] : [this.#init]);
    }
    const { gitDescriptor } = this.#lane;
    if (ending.kind !== 'exited' && gitDescriptor !== undefined) clearIndexLock(gitDescriptor);
    const audited: AuditResult = this.#audit?.finish() ?? { notices: [] };
    if (audited.quarantine === undefined) return audited.notices;
    return [...audited.notices, ...(await this.#quarantine(audited.quarantine, []))];
  }

  async #quarantine(reason: string, processes: readonly ProcessIdentity[]): Promise<readonly string[]> {
    const { root, assignment } = this.#call;
    await root.quarantine.add(assignment.lane, reason, processes);
    return [`${reason} The lane is closed until that is settled.`];
  }
}

function resultOf(request: ExecuteCommandRequest, outcome: CommandOutcome): ExecuteCommandResult {
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
