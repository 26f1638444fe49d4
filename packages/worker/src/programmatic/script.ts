import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { RunningCommand, type Ended, type Ending, type RunningOptions } from '../commands/running-command.js';
import type { RenderedOutput } from '../commands/bounded-output.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import { freeze, isAtRest, type Frozen } from '../sandbox/freeze.js';
import { startSandboxed, type StartOptions } from '../sandbox/start.js';
import { RunningTime } from './running-time.js';
import type { ToolAnswer, ToolChannel, WaitingCall } from './tool-channel.js';

export interface ScriptOptions extends StartOptions, RunningOptions {
  /** Running time, in milliseconds. */
  readonly timeoutMs: number;
}

/** What a running script comes to: it is frozen over calls of its tools, or it is over and may still run. */
export type ScriptEvent =
  | { readonly kind: 'frozen'; readonly calls: readonly WaitingCall[] }
  | { readonly kind: 'over'; readonly ending: Ending };

/** How long a script may go on after a call, so that calls it makes side by side are told together. */
const settleMs = 50;

/** One script in its sandbox, from its start to its end, with its pauses. */
export class Script {
  readonly #command: RunningCommand;
  readonly #channel: ToolChannel;
  readonly #time: RunningTime;
  #ended: Promise<Ended> | undefined;
  #pause: { readonly calls: readonly WaitingCall[]; readonly frozen: Frozen } | undefined;

  private constructor(command: RunningCommand, channel: ToolChannel, timeoutMs: number) {
    this.#command = command;
    this.#channel = channel;
    this.#time = new RunningTime(timeoutMs);
    this.#time.start();
  }

  /** @throws as `startSandboxed`. */
  static async start(options: ScriptOptions, channel: ToolChannel): Promise<Script> {
    const command = new RunningCommand(await startSandboxed(options), options);
    return new Script(command, channel, options.timeoutMs);
  }

  get init(): ProcessIdentity {
    return this.#command.init;
  }

  get stdoutSoFar(): string {
    return this.#command.stdoutSoFar;
  }

  /** Runs until the next pause or the end. */
  async untilNext(signal: AbortSignal | undefined): Promise<ScriptEvent> {
    this.#time.start();
    for (;;) {
      const called = this.#channel.untilCalled().then(() => undefined);
      const ending = await this.#untilOver(signal, called);
      if (ending !== undefined) return { kind: 'over', ending };
      await this.#untilAtRest();
      const event = await this.#freeze(signal);
      if (event !== undefined) return event;
    }
  }

  /** Whether it does nothing, while it is frozen. */
  get isStill(): boolean {
    return this.#pause?.frozen.isStill() ?? false;
  }

  /** Answers what the script was frozen over, and lets it go on. */
  resume(answerOf: (call: WaitingCall) => ToolAnswer): void {
    const { calls, frozen } = this.#paused();
    for (const call of calls) this.#channel.answer(call, answerOf(call));
    this.#pause = undefined;
    this.#time.start();
    frozen.thaw();
  }

  /** Ends what is left of it, once. A frozen one is killed at once: it could not leave by itself. */
  end(ending: Ending): Promise<Ended> {
    this.#ended ??= this.#end(ending);
    return this.#ended;
  }

  async #end(ending: Ending): Promise<Ended> {
    const graceMs = this.#pause === undefined ? undefined : 0;
    this.#pause = undefined;
    const ended = await this.#command.end(ending, graceMs);
    this.#channel.close();
    return ended;
  }

  render(notices: readonly string[]): RenderedOutput {
    return this.#command.render(notices);
  }

  async #freeze(signal: AbortSignal | undefined): Promise<ScriptEvent | undefined> {
    const frozen = await freeze(this.init);
    if (frozen === undefined) {
      for (const call of this.#channel.take()) this.#channel.answer(call, { error: cannotBeHeld });
      return undefined;
    }
    this.#channel.drain();
    const calls = this.#channel.take();
    const ending = await this.#untilOver(signal, Promise.resolve(undefined));
    if (ending !== undefined || calls.length === 0) {
      frozen.thaw();
      return ending === undefined ? undefined : { kind: 'over', ending };
    }
    this.#time.stop();
    this.#pause = { calls, frozen };
    return { kind: 'frozen', calls };
  }

  #untilOver(signal: AbortSignal | undefined, or: Promise<undefined>): Promise<Ending | undefined> {
    return this.#command.untilOver({ timeoutMs: this.#time.leftMs, signal }, or);
  }

  /** Waits until nobody runs: whoever is about to call too has called then. */
  async #untilAtRest(): Promise<void> {
    const end = performance.now() + settleMs;
    let wasAtRest = false;
    while (performance.now() < end) {
      const atRest = isAtRest(this.init);
      if (atRest && wasAtRest) return;
      wasAtRest = atRest;
      await (atRest ? nextTurn() : sleep(1));
    }
  }

  #paused() {
    if (this.#pause === undefined) throw new Error('The script is not frozen.');
    return this.#pause;
  }
}

const cannotBeHeld =
  'The tool was not called: the processes of this script could not be held still within a second.';
