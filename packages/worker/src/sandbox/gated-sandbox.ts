import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { CodelanesError } from '@codelanes/protocol';
import { endsWithin } from '../clock/ends-within.js';
import { withinTime } from '../clock/within-time.js';
import { hostProcesses, type ProcessIdentity } from '../lanes/processes.js';
import type { CallNetwork, NetworkHost } from '../network/network-host.js';
import { EarlyWords } from './early-words.js';
import { gateProgram, readyWord, runOrder, type RunOrder } from './gate.js';
import type { Policy } from './policy.js';
import { untilGone } from './process-tree.js';
import { spawnSandbox, type Spawned } from './sandbox-spawn.js';
import type { Standby } from './standby.js';

export interface BuildOptions {
  readonly policy: Policy;
  readonly shell: string;
  readonly journalId: string;
  /** What the policy's descriptor sources stand for; the caller may close them when the sandbox runs or is abandoned. */
  readonly descriptors: ReadonlyMap<string, number>;
  /** Needed where the policy has a network. */
  readonly networkHost?: NetworkHost | undefined;
  /** Longest time until the gate speaks, in milliseconds. */
  readonly readyTimeoutMs?: number | undefined;
  readonly bwrap?: string | undefined;
  /** Processes that were started ahead and may become the sandbox. */
  readonly standby?: Standby | undefined;
}

export interface RunOptions extends RunOrder {
  /** What has to be in order for the command to run, looked at while the sandbox is built. May throw. */
  readonly beforeStart?: (() => void) | undefined;
  /** Writes and syncs the journal entry, after `beforeStart`. The command runs only after this has been fulfilled. */
  readonly journalStart: (init: ProcessIdentity) => Promise<void>;
  /** Called right before the command may run. */
  readonly onStart?: ((init: ProcessIdentity) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How a sandbox ended: the command's exit status, or the signal that ended the sandbox itself. */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: NodeJS.Signals };

/** A sandbox whose command runs. */
export interface Started {
  /** The namespace's first process; when it is gone, every process of the command is. */
  readonly init: ProcessIdentity;
  /** Both streams wait, paused, for a reader. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The call's network, if its policy has one; whoever waits for the end closes it then. */
  readonly network?: CallNetwork | undefined;
  /** The end of the command. Its left-overs may still be dying: wait for `init` before reading what it wrote. */
  readonly exited: Promise<Exit>;
  /** Kills the whole sandbox at once. */
  readonly kill: () => void;
}

/**
 * A sandbox that is built, or being built, and waits at its gate: nothing of any command runs in it before `run`. It is
 * run, once, or abandoned. Must be made on the main thread.
 */
export class GatedSandbox {
  readonly #options: BuildOptions;
  readonly #networkHost: NetworkHost | undefined;
  readonly #spawned: Spawned;
  readonly #exited: Promise<Exit>;
  readonly #words: EarlyWords;
  readonly #isReady: Promise<boolean>;
  #init: ProcessIdentity | undefined;
  #hasEnded = false;
  #isUsed = false;

  /** @throws {Error} where no process can be started. */
  constructor(options: BuildOptions) {
    const { policy, shell } = options;
    this.#options = options;
    this.#networkHost = networkHostOf(options);
    this.#spawned = spawnSandbox({
      ...options,
      program: gateProgram(shell, policy.limits, this.#networkHost?.listenerProgram),
    });
    this.#exited = exitOf(this.#spawned);
    const onEnd = () => {
      this.#hasEnded = true;
    };
    this.#exited.then(onEnd, onEnd);
    this.#words = new EarlyWords(this.#spawned.stderr);
    this.#isReady = saysReady(this.#spawned, this.#exited);
    // Where nothing can be watched, the gate's word is the first that is heard of it.
    for (const sign of [this.#spawned.initSaid, this.#isReady])
      sign.then(() => this.#findInit()).catch(() => undefined);
  }

  /**
   * Has the command run when the sandbox is ready, what has to be in order was looked at and the start is in the
   * journal. All of that goes on at once, since building takes longest. Whatever goes wrong before, rejection means
   * that nothing of the command ran and that the sandbox is gone.
   *
   * @throws {CodelanesError} `COMMAND_UNAVAILABLE` when the sandbox cannot be built, `EXECUTION_ABORTED` when
   *   `signal` was aborted first; whatever `beforeStart` or `journalStart` throws.
   */
  async run(options: RunOptions): Promise<Started> {
    this.#isUsed = true;
    const ready = this.#untilReady(options.signal);
    const recorded = this.#record(ready, options);
    let network: CallNetwork | undefined;
    try {
      const [init] = await Promise.all([recorded, ready]);
      network = await this.#openNetwork();
      throwIfAborted(options.signal);
      this.#words.stop();
      options.onStart?.(init);
      this.#spawned.gate.end(runOrder(options));
      this.#spawned.closeStart();
      return this.#started(init, network);
    } catch (error) {
      await this.#end();
      await network?.close();
      // What is being written belongs to this start: nobody may take it back before it is there.
      await recorded.catch(() => undefined);
      throw error;
    }
  }

  /** Ends a sandbox that was not to run anything after all, and waits until nothing of it is left. */
  async abandon(): Promise<void> {
    if (this.#isUsed) return;
    this.#isUsed = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    const { gate, child, listener } = this.#spawned;
    gate.destroy();
    await this.#untilInitSaid(1_000);
    const init = this.#findInit();
    child.kill('SIGKILL');
    if (init !== undefined) hostProcesses.kill(init);
    listener?.then(
      (opened) => opened.close(),
      () => undefined,
    );
    await this.#exited.catch(() => undefined);
    if (init !== undefined) await untilGone(init);
    this.#spawned.closeStart();
  }

  #started(init: ProcessIdentity, network: CallNetwork | undefined): Started {
    const { stdout, stderr, child } = this.#spawned;
    return {
      init,
      stdout,
      stderr,
      exited: this.#exited,
      network,
      kill() {
        child.kill('SIGKILL');
        hostProcesses.kill(init);
      },
    };
  }

  async #openNetwork(): Promise<CallNetwork | undefined> {
    const { listener } = this.#spawned;
    const { network } = this.#options.policy;
    if (listener === undefined || network.kind === 'none') return undefined;
    return this.#networkHost?.open(await listener, network);
  }

  /** All that must be done before the command may run, beside the building of its sandbox. */
  async #record(ready: Promise<void>, { beforeStart, journalStart }: RunOptions): Promise<ProcessIdentity> {
    beforeStart?.();
    await Promise.race([this.#spawned.initSaid, ready]);
    const init = this.#findInit();
    // Its end may not have been told here yet.
    if (init === undefined || this.#hasEnded || hostProcesses.isGone(init)) {
      throw new CodelanesError('COMMAND_UNAVAILABLE', 'The sandbox ended before its command was started.');
    }
    await journalStart(init);
    return init;
  }

  /** Of who it is when it is first said: the number of one that ends while it waits may be somebody else's later. */
  #findInit(): ProcessIdentity | undefined {
    const pid = this.#init === undefined && !this.#hasEnded ? this.#spawned.initPid() : undefined;
    if (pid !== undefined) this.#init = hostProcesses.identify(pid);
    return this.#init;
  }

  async #untilReady(signal: AbortSignal | undefined): Promise<void> {
    const timeoutMs = this.#options.readyTimeoutMs ?? 10_000;
    const isReady = await withinTime(timeoutMs, signal, (within) =>
      Promise.race([this.#isReady, once(within, 'abort').then(() => undefined)]),
    );
    throwIfAborted(signal);
    if (isReady === true) return;
    throw new CodelanesError(
      'COMMAND_UNAVAILABLE',
      isReady === undefined
        ? `The sandbox was not ready within ${timeoutMs} ms, so the command was not started.`
        : `The sandbox could not be built, so the command was not started: ${await this.#words.last()}`,
    );
  }

  /**
   * Resolves when bubblewrap has said who the namespace's init is, has ended, or the time is over. Killed before that,
   * bubblewrap would leave an init behind that is not yet bound to its life, and that nobody knows.
   */
  async #untilInitSaid(limitMs: number): Promise<void> {
    const ended = this.#exited.catch(() => undefined);
    await endsWithin(Promise.race([this.#spawned.initSaid, ended]), limitMs);
  }
}

/** Whether the gate has said that it is ready; not where the sandbox ended first. */
function saysReady({ gate }: Spawned, exited: Promise<Exit>): Promise<boolean> {
  const word = once(gate, 'data').then(([said]) => String(said).startsWith(readyWord));
  word.catch(() => undefined);
  return Promise.race([word, exited.then(() => false)]);
}

function networkHostOf({ policy, networkHost }: BuildOptions): NetworkHost | undefined {
  if (policy.network.kind === 'none') return undefined;
  if (networkHost === undefined) throw new Error('The policy has a network, and nobody gives it one.');
  return networkHost;
}

function exitOf(spawned: Spawned): Promise<Exit> {
  return new Promise((resolve, reject) => {
    spawned.gate.on('error', () => undefined);
    spawned.child.once('error', (error) => {
      const message = `Bubblewrap could not be started: ${error.message}`;
      reject(new CodelanesError('COMMAND_UNAVAILABLE', message, { cause: error }));
    });
    spawned.child.once('exit', (code, signal) => {
      resolve(signal === null ? { kind: 'exited', code: code ?? 1 } : { kind: 'signalled', signal });
    });
  });
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new CodelanesError('EXECUTION_ABORTED', 'The call was stopped before its command was started.');
}
