import { CodelanesError, limits } from '@codelanes/protocol';
import type { Pause, RunScriptRequest, RunScriptResult, ToolResult } from '@codelanes/protocol';
import { hostProcesses, type ProcessIdentity } from '../lanes/processes.js';
import { LaneScript, type ScriptStep, type Stretch } from '../programmatic/lane-script.js';
import type { ScriptPrograms } from '../programmatic/script-programs.js';
import { CallRecords } from './call-records.js';
import type { OpenedLane } from './opened-lane.js';
import type { CommandCall, CommandSetting } from './run-command.js';
import { homeOwner, scriptsFolder } from './served-root.js';

/** What a stretch of a script comes to. */
export type ScriptEnd = { readonly status: 'fulfilled'; readonly result: RunScriptResult } | Pause;

export interface ScriptStart {
  readonly setting: CommandSetting;
  readonly programs: ScriptPrograms;
  readonly request: RunScriptRequest;
}

/** One stretch of a script: under one lease, in a lane that was verified for it. */
export interface ScriptCall extends CommandCall {
  readonly reservePause: () => string | undefined;
}

/**
 * The script of a call, from its first lease to its last. Every stretch is on disk before it begins, as a command is;
 * a lane of which something may be left is quarantined.
 */
export class CallScript {
  readonly #request: RunScriptRequest;
  readonly #call: CommandCall;
  readonly #records: CallRecords;
  readonly #script: LaneScript;
  #init: ProcessIdentity | undefined;
  /** Whether something of it ran in this stretch. */
  #ran = false;

  private constructor(request: RunScriptRequest, call: CommandCall, lane: OpenedLane, script: LaneScript) {
    this.#request = request;
    this.#call = call;
    this.#records = new CallRecords(call, lane);
    this.#script = script;
  }

  static async prepare(
    { setting, programs, request }: ScriptStart,
    call: CommandCall,
    lane: OpenedLane,
  ): Promise<CallScript> {
    const { root, assignment } = call;
    const { killGraceMs, ...walled } = setting;
    const script = await LaneScript.prepare({
      ...walled,
      programs,
      callId: assignment.callId,
      folder: scriptsFolder(root),
      code: request.code,
      tools: request.tools,
      files: request.files ?? [],
      timeoutMs: assignment.executionMs,
      maxOutputBytes: request.maxOutputBytes ?? limits.commandDefaultOutputBytes,
      graceMs: killGraceMs,
      journalId: root.journal.id,
    });
    return new CallScript(request, call, lane, script);
  }

  /** @throws {CodelanesError} saying why nothing ran; `EXECUTION_ABORTED` for a script that was cancelled. */
  start(call: ScriptCall, lane: OpenedLane): Promise<ScriptEnd> {
    return this.#stretch(() => this.#script.start(this.#stretchOf(call, lane)));
  }

  /**
   * Goes on after a pause.
   *
   * @throws {CodelanesError} where the lane is not the one in which the script was paused: then it is paused still;
   *   as `start`.
   */
  resume(call: ScriptCall, lane: OpenedLane, results: readonly ToolResult[]): Promise<ScriptEnd> {
    return this.#stretch(() => this.#script.resume(this.#stretchOf(call, lane), results));
  }

  /** Whether it does nothing, while it is paused. */
  get isStill(): boolean {
    return this.#script.isStill;
  }

  /** Ends it while it is paused; nothing of it was owed. */
  async kill(): Promise<void> {
    const gone = await this.#script.kill();
    if (!gone) await this.#quarantine('The processes of a paused script could not be shown to be gone.');
    await this.#call.root.journal.end(this.#call.assignment.callId);
  }

  #stretchOf(
    { root, assignment, signal, onStart, reservePause, notices = [] }: ScriptCall,
    lane: OpenedLane,
  ): Stretch {
    const records = this.#records;
    return {
      lane: lane.facts,
      home: homeOwner(root, assignment.lane, lane),
      verifyAgain: () => {
        records.verifyAgain();
      },
      signal,
      reservePause,
      lookBeneath: async (wasStopped) => [...notices, ...(await records.lookBeneath(wasStopped))],
      locksBeneath: () => records.locksBeneath(),
      journalStart: (record) => records.write(record),
      onStart: (init) => {
        this.#ran = true;
        this.#init ??= init;
        onStart(init);
      },
    };
  }

  async #stretch(run: () => Promise<ScriptStep>): Promise<ScriptEnd> {
    this.#ran = false;
    let isOwed = true;
    try {
      const step = await run();
      isOwed = step.kind === 'ended' && !step.outcome.gone;
      return await this.#endOf(step);
    } catch (error) {
      if (this.#hasRun() && this.#isLeft())
        await this.#quarantine('The processes of a script could not be shown to be gone.');
      throw error;
    } finally {
      if (!isOwed || !this.#hasRun()) this.#records.settled();
    }
  }

  async #endOf(step: ScriptStep): Promise<ScriptEnd> {
    if (step.kind === 'paused') {
      // A repair may have been the last to be named.
      if (this.#init !== undefined) await this.#records.name(this.#init);
      return { status: 'paused', toolCalls: [...step.toolCalls], stdout: step.stdout };
    }
    const { quarantine } = step.outcome;
    if (quarantine !== undefined) await this.#quarantine(quarantine);
    return { status: 'fulfilled', result: resultOf(this.#request, step) };
  }

  #hasRun(): boolean {
    return this.#ran;
  }

  #isLeft(): boolean {
    return this.#init !== undefined && !hostProcesses.isGone(this.#init);
  }

  async #quarantine(reason: string): Promise<void> {
    const processes = this.#init !== undefined && this.#isLeft() ? [this.#init] : [];
    await this.#records.quarantine(reason, processes);
  }
}

function resultOf(
  { workspaceId }: RunScriptRequest,
  { outcome, files }: Extract<ScriptStep, { kind: 'ended' }>,
): RunScriptResult {
  if (outcome.ending.kind === 'cancelled' && outcome.quarantine === undefined) {
    throw new CodelanesError('EXECUTION_ABORTED', 'The script was stopped on request while it ran.');
  }
  const { exitCode, signal, stdout, stderr, truncated, timedOut } = outcome;
  return {
    protocolVersion: 1,
    operation: 'run_script',
    workspaceId,
    exitCode,
    ...(signal === undefined ? {} : { signal }),
    stdout,
    stderr,
    truncated,
    timedOut,
    files: [...files],
  };
}
