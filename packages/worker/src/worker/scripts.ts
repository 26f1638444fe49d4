import { CodelanesError, describeLane, laneKey, limits } from '@codelanes/protocol';
import type { Assignment, Report, ResumeScriptRequest, RunScriptRequest } from '@codelanes/protocol';
import type { Logger } from 'pino';
import type { ScriptPrograms } from '../programmatic/script-programs.js';
import { CallScript, type ScriptEnd } from './call-script.js';
import type { OpenedLane } from './opened-lane.js';
import type { CommandCall, CommandSetting } from './run-command.js';
import { SparingWatch } from './sparing-watch.js';

/** Scripts of one worker that wait for tools at once. */
const mostPaused = 4;

export interface ScriptsOptions {
  /** `undefined` on a machine without what scripts need. */
  readonly programs: ScriptPrograms | undefined;
  readonly report: (report: Report) => void;
  readonly log: Logger;
  /** How long a script may wait for its tools, in milliseconds. */
  readonly pausedMs?: number | undefined;
}

interface PausedScript {
  readonly script: CallScript;
  readonly lane: Assignment['lane'];
  readonly expiry: NodeJS.Timeout;
  readonly stillness: SparingWatch;
}

/**
 * The scripts of a worker. One that waits for tools holds no lease and no lane; it goes on when its call is assigned
 * again, and is ended when nobody does that in time, when it is cancelled, and with the worker.
 */
export class Scripts {
  readonly #options: ScriptsOptions;
  readonly #paused = new Map<string, PausedScript>();
  /** Calls that are paused or are about to be. */
  readonly #reserved = new Set<string>();
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(options: ScriptsOptions) {
    this.#options = options;
  }

  /**
   * @throws {CodelanesError} `COMMAND_DISABLED` on a machine that runs no scripts; as `CallScript.start`.
   */
  async start(
    setting: CommandSetting,
    call: CommandCall,
    request: RunScriptRequest,
    lane: OpenedLane,
  ): Promise<ScriptEnd> {
    const { programs } = this.#options;
    if (programs === undefined) {
      throw new CodelanesError('COMMAND_DISABLED', 'This machine has not what scripts need, so none is run.');
    }
    const script = await CallScript.prepare({ setting, programs, request }, call, lane);
    return this.#stretch(script, call, (stretch) => script.start(stretch, lane));
  }

  /** Whether a script of that call waits here, in that lane. */
  isPaused(callId: string, lane: Assignment['lane']): boolean {
    const paused = this.#paused.get(callId);
    return paused !== undefined && laneKey(paused.lane) === laneKey(lane);
  }

  /**
   * @throws {CodelanesError} as `CallScript.resume`. A script that cannot go on is ended, and that is what is said.
   */
  async resume(call: CommandCall, request: ResumeScriptRequest, lane: OpenedLane): Promise<ScriptEnd> {
    const { callId } = call.assignment;
    const script = this.#paused.get(callId)?.script;
    if (script === undefined) throw notPaused();
    this.#forget(callId);
    const stretch: { hasBegun: boolean } = { hasBegun: false };
    const onStart: CommandCall['onStart'] = (init) => {
      stretch.hasBegun = true;
      call.onStart(init);
    };
    try {
      return await this.#stretch(script, { ...call, onStart }, (reserving) =>
        script.resume(reserving, lane, request.results),
      );
    } catch (error) {
      if (stretch.hasBegun) throw error;
      await this.#end(callId, script);
      throw CodelanesError.is(error) ? notPaused(error.message) : error;
    }
  }

  /**
   * Ends the script of a call, if it waits here. It holds no lease, so that nothing is settled; `true` where there was
   * one.
   */
  async kill(callId: string): Promise<boolean> {
    const script = this.#paused.get(callId)?.script;
    if (script === undefined) return false;
    this.#forget(callId);
    await this.#end(callId, script);
    return true;
  }

  /** Ends those that wait, and lets none wait any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#paused.keys()].map((callId) => this.#interrupt(callId)));
    await Promise.all(this.#ending);
  }

  async #stretch(
    script: CallScript,
    call: CommandCall,
    run: (stretch: CommandCall & { reservePause: () => string | undefined }) => Promise<ScriptEnd>,
  ): Promise<ScriptEnd> {
    const { callId, lane } = call.assignment;
    const end = await run({ ...call, reservePause: () => this.#reserve(callId) }).finally(() => {
      if (!this.#paused.has(callId)) this.#reserved.delete(callId);
    });
    if (end.status === 'paused') this.#hold(callId, script, lane);
    return end;
  }

  async #end(callId: string, script: CallScript): Promise<void> {
    const ended = script.kill().catch((error: unknown) => {
      this.#options.log.error({ err: error, callId }, 'a paused script could not be ended');
    });
    this.#ending.add(ended);
    await ended;
    this.#ending.delete(ended);
  }

  #reserve(callId: string): string | undefined {
    if (this.#closed) return 'The tool was not called: the worker is being stopped.';
    if (this.#reserved.size >= mostPaused) {
      return `The tool was not called: ${mostPaused} scripts of this worker wait for tools already, and more do not. Call it again later.`;
    }
    this.#reserved.add(callId);
    return undefined;
  }

  #hold(callId: string, script: CallScript, lane: Assignment['lane']): void {
    const { pausedMs = limits.pausedScriptMs, log } = this.#options;
    const end = (why: string): void => {
      log.warn({ callId, lane: describeLane(lane) }, `a script that waits for its tools ${why} and is ended`);
      void this.#interrupt(callId);
    };
    const expiry = setTimeout(end, pausedMs, 'has waited too long');
    // Nothing in its sandbox can wake it; what others could arrange for it must not go on without a lane.
    const stillness = new SparingWatch(
      () => script.isStill,
      () => {
        end('was woken');
      },
    );
    this.#reserved.add(callId);
    this.#paused.set(callId, { script, lane, expiry, stillness });
  }

  #forget(callId: string): void {
    const paused = this.#paused.get(callId);
    clearTimeout(paused?.expiry);
    paused?.stillness.close();
    this.#paused.delete(callId);
    this.#reserved.delete(callId);
  }

  async #interrupt(callId: string): Promise<void> {
    if (await this.kill(callId)) this.#options.report({ callId, state: 'interrupted' });
  }
}

/** What is said of a script that is to go on and is not there: nobody knows how far it came. */
export function notPaused(why?: string): CodelanesError {
  const reason = why ?? 'It does not wait here, or no longer.';
  return new CodelanesError(
    'ASSIGNMENT_EXPIRED',
    `The script was ended while it waited for its tools. ${reason} What it had done before stays.`,
  );
}
