import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptFile, ToolCall, ToolResult } from '@codelanes/protocol';
import { outcomeOf } from '../commands/execute-command.js';
import { LaneCare, type CaredLane } from '../commands/lane-care.js';
import type { LaneOutcome } from '../commands/run-in-lane.js';
import type { Ending } from '../commands/running-command.js';
import type { NetworkPolicy } from '../environment/network-policy.js';
import type { NetworkHost } from '../network/network-host.js';
import { laneTop, type LaneFacts } from '../sandbox/lane-facts.js';
import type { HomeOwner } from '../sandbox/lane-home.js';
import { openLaneSandbox, type LaneSandbox } from '../sandbox/lane-sandbox.js';
import type { MachineFacts } from '../sandbox/machine-facts.js';
import type { SharedCache } from '../sandbox/shared-cache.js';
import type { Standby } from '../sandbox/standby.js';
import { laneFolders, type SharedFolders } from '../sandbox/worker-folders.js';
import { scriptPaths } from './inside.js';
import { Script } from './script.js';
import { ScriptFolder, type ScriptParts } from './script-folder.js';
import { scriptPolicy } from './script-policy.js';
import type { ScriptPrograms } from './script-programs.js';
import { ToolChannel, type ToolAnswer, type WaitingCall } from './tool-channel.js';

/** What a script is run with; all but its code is the same as for a command of its lane. */
export interface ScriptSetting extends ScriptParts {
  readonly callId: string;
  /** Holds the folders of scripts; no sandbox shows it. */
  readonly folder: string;
  readonly programs: ScriptPrograms;
  readonly machine: MachineFacts;
  readonly shared: SharedFolders;
  readonly network?: NetworkPolicy | undefined;
  readonly networkHost?: NetworkHost | undefined;
  readonly caches?: readonly SharedCache[] | undefined;
  readonly standby?: Standby | undefined;
  /** Running time, in milliseconds. */
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly graceMs?: number | undefined;
  readonly goneWithinMs?: number | undefined;
  readonly journalId: string;
}

/** One running of a script: from its start or the end of a pause to the next pause or its end. */
export interface Stretch extends Pick<
  CaredLane,
  'journalStart' | 'onStart' | 'lookBeneath' | 'locksBeneath'
> {
  /** Verified just before; its descriptors stay open until the stretch is over. */
  readonly lane: LaneFacts;
  readonly home: HomeOwner;
  /** Looks once more, right before something runs; throws where the lane is not what it was. */
  readonly verifyAgain: () => void;
  readonly signal?: AbortSignal | undefined;
  /** Why the script may not be paused now, as a sentence; `undefined` makes room for it until its next stretch. */
  readonly reservePause: () => string | undefined;
}

export type ScriptStep =
  | { readonly kind: 'paused'; readonly toolCalls: readonly ToolCall[]; readonly stdout: string }
  | { readonly kind: 'ended'; readonly outcome: LaneOutcome; readonly files: readonly ScriptFile[] };

/** A sibling's Git holds a lock of a shared ref no longer than this, in milliseconds. */
const foreignLockMs = 200;

/**
 * A script in its lane's wall, with the care that belongs around a command before and after each of its stretches:
 * while it is paused its lane is as after a command's end, and others may use it.
 */
export class LaneScript {
  readonly #setting: ScriptSetting;
  readonly #folder: ScriptFolder;
  readonly #notices: string[] = [];
  #script: Script | undefined;

  private constructor(setting: ScriptSetting, folder: ScriptFolder) {
    this.#setting = setting;
    this.#folder = folder;
  }

  /** Puts all that the script needs into a folder of its own. */
  static async prepare(setting: ScriptSetting): Promise<LaneScript> {
    const { folder, callId, programs } = setting;
    return new LaneScript(setting, await ScriptFolder.make(folder, callId, setting, programs));
  }

  /** @throws before the script runs, as `startSandboxed` and `openLaneSandbox`; then nothing of it is left. */
  async start(stretch: Stretch): Promise<ScriptStep> {
    let sandbox: LaneSandbox | undefined;
    try {
      sandbox = this.#openSandbox(stretch);
      const care = this.#careOf(stretch, sandbox);
      const script = await this.#begin(stretch, sandbox, care);
      this.#script = script;
      return await this.#run(script, stretch, care);
    } catch (error) {
      if (this.#script === undefined) await this.#folder.remove();
      throw error;
    } finally {
      sandbox?.close();
    }
  }

  /**
   * Goes on after a pause.
   *
   * @throws where the lane does not verify or its record cannot be written; the script is still paused then.
   */
  async resume(stretch: Stretch, results: readonly ToolResult[]): Promise<ScriptStep> {
    const script = this.#running();
    const sandbox = this.#openSandbox(stretch);
    try {
      const care = this.#careOf(stretch, sandbox);
      stretch.verifyAgain();
      lookBefore(care);
      await stretch.journalStart({ stage: 'resume', init: script.init, snapshot: care.snapshot });
      stretch.onStart?.(script.init);
      script.resume((call) => answerOf(call, results));
      return await this.#run(script, stretch, care);
    } finally {
      sandbox.close();
    }
  }

  /** Whether a paused script does nothing. */
  get isStill(): boolean {
    return this.#running().isStill;
  }

  /** Ends a paused script. `false`: it could not be shown to be gone, and its lane must be quarantined. */
  async kill(): Promise<boolean> {
    const { gone } = await this.#running().end({ kind: 'cancelled' });
    if (gone) await this.#folder.remove();
    return gone;
  }

  async #begin(stretch: Stretch, sandbox: LaneSandbox, care: LaneCare): Promise<Script> {
    const { programs, machine, tools, ...setting } = this.#setting;
    const channel = new ToolChannel(this.#folder, tools);
    try {
      return await Script.start(
        {
          ...setting,
          policy: scriptPolicy(sandbox.policy, this.#folder, programs),
          descriptors: sandbox.descriptors,
          shell: machine.shell,
          command: `BASH_ENV=${scriptPaths.functions} exec ${programs.bash} ${scriptPaths.main}`,
          signal: stretch.signal,
          onStart: stretch.onStart,
          beforeStart: () => {
            stretch.verifyAgain();
            lookBefore(care);
          },
          journalStart: (init) => stretch.journalStart({ stage: 'command', init, snapshot: care.snapshot }),
        },
        channel,
      );
    } catch (error) {
      channel.close();
      throw error;
    }
  }

  async #run(script: Script, stretch: Stretch, care: LaneCare): Promise<ScriptStep> {
    try {
      for (;;) {
        const event = await script.untilNext(stretch.signal);
        if (event.kind === 'over') return await this.#end(script, event.ending, care);
        const refusal = (await heldLocks(care)) ?? stretch.reservePause();
        if (refusal === undefined) return await this.#pause(script, event.calls, stretch, care);
        script.resume(() => ({ error: refusal }));
      }
    } catch (error) {
      const { gone } = await script.end({ kind: 'cancelled' });
      if (gone) await this.#folder.remove();
      throw error;
    }
  }

  async #pause(
    script: Script,
    calls: readonly WaitingCall[],
    { signal }: Stretch,
    care: LaneCare,
  ): Promise<ScriptStep> {
    this.#notices.push(...(await care.lookAfter({ wasStopped: false, gone: true })));
    const isOver = care.quarantine !== undefined || signal?.aborted === true;
    if (isOver) return this.#end(script, { kind: 'cancelled' }, care);
    const toolCalls = calls.map(({ id, name, input }) => ({ id, name, input }));
    return { kind: 'paused', toolCalls, stdout: script.stdoutSoFar };
  }

  async #end(script: Script, ending: Ending, care: LaneCare): Promise<ScriptStep> {
    const ended = await script.end(ending);
    const { gone } = ended;
    const notices = await care.lookAfter({ wasStopped: ending.kind !== 'exited', gone });
    const back = gone ? await this.#folder.outputs.read() : { files: [], notices: [] };
    if (gone) await this.#folder.remove();
    const said = new Set([...this.#notices, ...notices, ...back.notices]);
    const outcome = outcomeOf(script, ended, [...said]);
    return { kind: 'ended', outcome: { ...outcome, quarantine: care.quarantine }, files: back.files };
  }

  #openSandbox({ lane, home }: Stretch): LaneSandbox {
    const { machine, shared, network, caches } = this.#setting;
    return openLaneSandbox(lane, {
      machine,
      folders: laneFolders(shared, home),
      workingDirectory: laneTop(lane),
      network,
      caches,
    });
  }

  #careOf(stretch: Stretch, sandbox: LaneSandbox): LaneCare {
    const { shared, journalId } = this.#setting;
    return new LaneCare({ ...stretch, sandbox, realGit: shared.realGit, journalId });
  }

  #running(): Script {
    if (this.#script === undefined) throw new Error('The script has not begun.');
    return this.#script;
  }
}

function lookBefore(care: LaneCare): void {
  care.lookBefore();
  care.noteLocks();
}

/** Frozen, a script keeps the locks of its Git; those of its siblings go by themselves. */
async function heldLocks(care: LaneCare): Promise<string | undefined> {
  const end = performance.now() + foreignLockMs;
  for (;;) {
    const [lock] = care.newLocks();
    if (lock === undefined) return undefined;
    if (performance.now() >= end) {
      return `The tool was not called: Git holds "${lock}" in this lane, which others may need meanwhile. Call tools when no Git runs in the background.`;
    }
    await sleep(10);
  }
}

function answerOf({ id }: WaitingCall, results: readonly ToolResult[]): ToolAnswer {
  return results.find(({ callId }) => callId === id) ?? { error: 'No result of this tool came.' };
}
