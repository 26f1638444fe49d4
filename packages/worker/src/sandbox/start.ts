import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodelanesError } from '@codelanes/protocol';
import { withinTime } from '../clock/within-time.js';
import { hostProcesses, type ProcessIdentity } from '../lanes/processes.js';
import type { CallNetwork, NetworkHost } from '../network/network-host.js';
import { gateProgram, readyWord, runWord } from './gate.js';
import type { Policy } from './policy.js';
import { untilGone } from './process-tree.js';
import { spawnSandbox, type Spawned } from './sandbox-spawn.js';
import type { Standby } from './standby.js';

export interface StartOptions {
  readonly policy: Policy;
  readonly command: string;
  readonly shell: string;
  readonly journalId: string;
  /** What the policy's descriptor sources stand for; the caller may close them when `startSandboxed` has settled. */
  readonly descriptors: ReadonlyMap<string, number>;
  /** What has to be in order for the command to run, looked at while the sandbox is built. May throw. */
  readonly beforeStart?: (() => void) | undefined;
  /** Writes and syncs the journal entry, after `beforeStart`. The command runs only after this has been fulfilled. */
  readonly journalStart: (init: ProcessIdentity) => Promise<void>;
  /** Called right before the command may run. */
  readonly onStart?: ((init: ProcessIdentity) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Needed where the policy has a network. */
  readonly networkHost?: NetworkHost | undefined;
  /** Longest time until the gate speaks, in milliseconds. */
  readonly readyTimeoutMs?: number | undefined;
  readonly bwrap?: string | undefined;
  /** Processes that were started ahead and may become the sandbox. */
  readonly standby?: Standby | undefined;
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
 * Starts a command in a sandbox, gated: the sandbox is built, and only when it has said that it is ready, what has
 * to be in order was looked at and the start is in the journal, it is told to run. All of that goes on at once, since
 * building takes longest. Whatever goes wrong before, rejection means that nothing of the command ran. Must be called
 * on the main thread.
 *
 * @throws {CodelanesError} `COMMAND_UNAVAILABLE` when the sandbox cannot be built, `EXECUTION_ABORTED` when
 *   `signal` was aborted first; whatever `beforeStart` or `journalStart` throws.
 */
export async function startSandboxed(options: StartOptions): Promise<Started> {
  throwIfAborted(options.signal);
  const { policy, shell, command } = options;
  const networkHost = networkHostOf(options);
  const spawned = spawnSandbox({
    ...options,
    program: gateProgram(shell, command, policy.limits, networkHost?.listenerProgram),
  });
  const exited = exitOf(spawned);
  const words = new EarlyWords(spawned.stderr);
  exited.catch(() => undefined);
  const ready = untilReady(spawned, exited, words, options);
  const recorded = record(spawned, ready, options);
  let network: CallNetwork | undefined;
  try {
    const [init] = await Promise.all([recorded, ready]);
    if (spawned.listener !== undefined)
      network = await networkHost?.open(await spawned.listener, policy.network);
    throwIfAborted(options.signal);
    words.stop();
    options.onStart?.(init);
    spawned.gate.end(runWord);
    return {
      init,
      stdout: spawned.stdout,
      stderr: spawned.stderr,
      exited,
      network,
      kill() {
        spawned.child.kill('SIGKILL');
        hostProcesses.kill(init);
      },
    };
  } catch (error) {
    await abandon(spawned, exited);
    await network?.close();
    // What is being written belongs to this start: nobody may take it back before it is there.
    await recorded.catch(() => undefined);
    throw error;
  } finally {
    spawned.closeStart();
  }
}

/** All that must be done before the command may run, beside the building of its sandbox. */
async function record(
  spawned: Spawned,
  ready: Promise<void>,
  { beforeStart, journalStart }: StartOptions,
): Promise<ProcessIdentity> {
  beforeStart?.();
  await Promise.race([spawned.initSaid, ready]);
  const init = initOf(spawned);
  await journalStart(init);
  return init;
}

function networkHostOf({ policy, networkHost }: StartOptions): NetworkHost | undefined {
  if (policy.network.kind === 'none') return undefined;
  if (networkHost === undefined) throw new Error('The policy has a network, and nobody gives it one.');
  return networkHost;
}

/** Ends a sandbox whose command was not told to run, and waits until nothing of it is left. */
async function abandon(spawned: Spawned, exited: Promise<Exit>): Promise<void> {
  spawned.gate.destroy();
  const pid = await initWithin(spawned, exited, 1_000);
  const init = pid === undefined ? undefined : hostProcesses.identify(pid);
  spawned.child.kill('SIGKILL');
  if (init !== undefined) hostProcesses.kill(init);
  spawned.listener?.then(
    (listener) => listener.close(),
    () => undefined,
  );
  await exited.catch(() => undefined);
  if (init !== undefined) await untilGone(init);
}

/**
 * The pid of the namespace's init, if bubblewrap says it in time. Killed before that, bubblewrap would leave an init
 * behind that is not yet bound to its life, and that nobody knows.
 */
async function initWithin(
  spawned: Spawned,
  exited: Promise<Exit>,
  limitMs: number,
): Promise<number | undefined> {
  const over = new AbortController();
  const ended = exited.then(
    () => undefined,
    () => undefined,
  );
  try {
    await Promise.race([spawned.initSaid, ended, sleep(limitMs, undefined, { signal: over.signal })]);
    return spawned.initPid();
  } finally {
    over.abort();
  }
}

async function untilReady(
  spawned: Spawned,
  exited: Promise<Exit>,
  words: EarlyWords,
  options: StartOptions,
): Promise<void> {
  const timeoutMs = options.readyTimeoutMs ?? 10_000;
  const ended = exited.then(() => false);
  ended.catch(() => undefined);
  try {
    const isReady = await withinTime(timeoutMs, options.signal, (within) => {
      const ready = once(spawned.gate, 'data', { signal: within }).then(([word]) =>
        String(word).startsWith(readyWord),
      );
      ready.catch(() => undefined);
      return Promise.race([ready, ended]);
    });
    if (isReady) return;
  } catch (error) {
    throwIfAborted(options.signal);
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    throw new CodelanesError(
      'COMMAND_UNAVAILABLE',
      `The sandbox was not ready within ${timeoutMs} ms, so the command was not started.`,
    );
  }
  throw new CodelanesError(
    'COMMAND_UNAVAILABLE',
    `The sandbox could not be built, so the command was not started: ${await words.last()}`,
  );
}

function initOf(spawned: Spawned): ProcessIdentity {
  const pid = spawned.initPid();
  const init = pid === undefined ? undefined : hostProcesses.identify(pid);
  if (init === undefined) {
    throw new CodelanesError('COMMAND_UNAVAILABLE', 'The sandbox ended before its command was started.');
  }
  return init;
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

/** What bubblewrap says before the command runs: the reason, if it fails. */
class EarlyWords {
  readonly #stream: Readable;
  readonly #ended: Promise<void>;
  readonly #listen = (chunk: Buffer): void => {
    this.#text = `${this.#text}${chunk.toString()}`.slice(-1000);
  };
  #text = '';

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#ended = finished(stream).catch(() => undefined);
    stream.on('data', this.#listen);
  }

  /** Leaves the stream, paused, to whoever reads the command's output. */
  stop(): void {
    this.#stream.off('data', this.#listen);
    this.#stream.pause();
  }

  async last(): Promise<string> {
    await this.#ended;
    const said = this.#text.trim().split('\n').at(-1) ?? '';
    return said === '' ? 'bubblewrap gave no reason.' : said;
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new CodelanesError('EXECUTION_ABORTED', 'The call was stopped before its command was started.');
}
