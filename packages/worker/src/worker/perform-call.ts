import { CodelanesError } from '@codelanes/protocol';
import type { Assignment, CallRequest, CallResult, Pause, Settlement } from '@codelanes/protocol';
import { withinTime } from '../clock/within-time.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import { isFileToolRequest, runTool, type FileToolRequest } from '../tools/run-tool.js';
import type { CallDeskOptions } from './call-desk.js';
import { LaneUnready, type LaneSetups } from './lane-setups.js';
import { openLane, type OpenedLane } from './opened-lane.js';
import { settleOwedAudits, type AuditSetting } from './owed-audit.js';
import { runCommand } from './run-command.js';
import { notPaused, type Scripts } from './scripts.js';
import type { LaneAhead } from './sandboxes-ahead.js';
import type { ServedRoot } from './served-root.js';
import { treeOf } from './served-tree.js';
import type { Stopwatch } from './stopwatch.js';
import { toolContext } from './tool-setting.js';

export interface PerformSetting extends Omit<CallDeskOptions, 'roots' | 'slots' | 'scripts'> {
  readonly setups: LaneSetups;
  readonly scripts: Scripts;
}

export interface CallToPerform {
  readonly root: ServedRoot;
  /** As its request says, not the wire. */
  readonly assignment: Assignment;
  readonly signal: AbortSignal;
  /** The lane with a sandbox that was built ahead, for a command; closed with the call. */
  readonly ahead?: LaneAhead | undefined;
  /** Called when a command has left its lane in order, before there is a result. */
  readonly onFree: () => void;
  /** Starts anew when a command does. */
  readonly stopwatch: Stopwatch;
}

/** How a call has ended, or that it waits for tools. */
export type Performed = Extract<Settlement, { status: 'fulfilled' }> | Pause;

/**
 * Does what a call asks for, in its lane, which is held for it and verifies now.
 *
 * @throws {CodelanesError} what the caller is told in place of a result.
 * @throws {LaneUnready} for a command that has to wait for the setup of its lane; nothing of it has begun.
 */
export async function performCall(setting: PerformSetting, call: CallToPerform): Promise<Performed> {
  const { request, callId } = call.assignment;
  try {
    return await performWithAhead(setting, call);
  } catch (error) {
    // A script that cannot go on where it stopped does not go on at all.
    const wasPaused = request.operation === 'resume_script' && (await setting.scripts.kill(callId));
    throw wasPaused && CodelanesError.is(error) ? notPaused(error.message) : error;
  }
}

/** A sandbox that was built ahead takes nothing from a call: where the call cannot begin in it, it has its own. */
async function performWithAhead(setting: PerformSetting, call: CallToPerform): Promise<Performed> {
  const { root, assignment, signal, ahead } = call;
  if (ahead === undefined) return performInLane(setting, call);
  try {
    return await performInLane(setting, call);
  } catch (error) {
    const mayHaveBegun = root.journal.knows(assignment.callId);
    if (mayHaveBegun || signal.aborted || error instanceof LaneUnready) throw error;
  } finally {
    await ahead.close();
  }
  return performInLane(setting, { ...call, ahead: undefined });
}

async function performInLane(setting: PerformSetting, call: CallToPerform): Promise<Performed> {
  const { root, assignment, signal, ahead } = call;
  const { request } = assignment;
  const { commands, ripgrep, log } = setting;
  // A read of instructions holds no lane: the command whose audit is owed may be running now.
  const audits = { root, commands, log };
  if (assignment.pool !== 'none') await settleOwedAudits(audits, assignment.lane);
  const lane = ahead?.opened ?? openLane(root, assignment.lane);
  try {
    if (isFileToolRequest(request)) {
      const result = await withinTime(assignment.executionMs, signal, (within) =>
        runTool(toolContext({ root, lane, assignment, ripgrep, signal: within }), request),
      );
      return { status: 'fulfilled', result };
    }
    return await performWalled(setting, call, request, audits, lane);
  } finally {
    if (ahead === undefined) lane.close();
  }
}

async function performWalled(
  { commands, connection, setups, scripts }: PerformSetting,
  { root, assignment, signal, stopwatch, ahead, onFree }: CallToPerform,
  request: Exclude<CallRequest, FileToolRequest>,
  audits: AuditSetting,
  lane: OpenedLane,
): Promise<Performed> {
  if (commands === undefined) {
    throw new CodelanesError('COMMAND_DISABLED', 'This machine cannot wall a command, so none is run.');
  }
  const onStart = (init: ProcessIdentity) => {
    stopwatch.start();
    const { callId, generation, token } = assignment;
    connection.send({ kind: 'started', lease: { callId, generation, token }, init });
  };
  const tree = treeOf(root, assignment.lane);
  const command = { root, tree, audits, assignment, signal, onStart };
  switch (request.operation) {
    case 'setup':
      return fulfilled(await setups.run(command, commands(root, tree), lane));
    case 'resume_script':
      return scripts.resume(command, request, lane);
    case 'run_script': {
      const notices = setups.admit(root, assignment.lane, lane, assignment.callId);
      return scripts.start(commands(root, tree), { ...command, notices }, request, lane);
    }
    case 'execute_command': {
      const notices = setups.admit(root, assignment.lane, lane, assignment.callId);
      return fulfilled(
        await runCommand(commands(root, tree), { ...command, notices, onFree }, request, lane, ahead),
      );
    }
  }
}

function fulfilled(result: CallResult): Performed {
  return { status: 'fulfilled', result };
}
