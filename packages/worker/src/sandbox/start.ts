import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { CodelanesError } from '@codelanes/protocol';
import { hostProcesses, type ProcessIdentity } from '../lanes/processes.js';
import { gateProgram, readyWord, runWord } from './gate.js';
import type { Policy } from './policy.js';
import { untilGone } from './process-tree.js';
import { spawnSandbox, type Spawned } from './sandbox-spawn.js';

export interface StartOptions {
  readonly policy: Policy;
  readonly command: string;
  readonly shell: string;
  readonly journalId: string;
  /** What the policy's descriptor sources stand for; the caller may close them when `startSandboxed` has settled. */
  readonly descriptors: ReadonlyMap<string, number>;
  /** Writes and syncs the journal entry. The command runs only after this has been fulfilled. */
  readonly journalStart: (init: ProcessIdentity) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Longest time until the gate speaks, in milliseconds. */
  readonly readyTimeoutMs?: number | undefined;
  readonly bwrap?: string | undefined;
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
  /** The end of the command. Its left-overs may still be dying: wait for `init` before reading what it wrote. */
  readonly exited: Promise<Exit>;
  /** Kills the whole sandbox at once. */
  readonly kill: () => void;
}

/**
 * Starts a command in a sandbox, gated: the sandbox is built, says that it is ready, is written into the
 * journal, and only then told to run. Whatever goes wrong before, rejection means that nothing of the command
 * ran. Must be called on the main thread.
 *
 * @throws {CodelanesError} `COMMAND_UNAVAILABLE` when the sandbox cannot be built, `EXECUTION_ABORTED` when
 *   `signal` was aborted first; whatever `journalStart` throws.
 */
export async function startSandboxed(options: StartOptions): Promise<Started> {
  throwIfAborted(options.signal);
  const spawned = spawnSandbox({
    ...options,
    program: gateProgram(options.shell, options.command, options.policy.limits),
  });
  const exited = exitOf(spawned);
  const words = new EarlyWords(spawned.stderr);
  exited.catch(() => undefined);
  try {
    await untilReady(spawned, exited, words, options);
    const init = initOf(spawned);
    await options.journalStart(init);
    throwIfAborted(options.signal);
    words.stop();
    spawned.gate.end(runWord);
    return {
      init,
      stdout: spawned.stdout,
      stderr: spawned.stderr,
      exited,
      kill() {
        spawned.child.kill('SIGKILL');
        hostProcesses.kill(init);
      },
    };
  } catch (error) {
    await abandon(spawned, exited);
    throw error;
  } finally {
    spawned.closeStatus();
  }
}

/** Ends a sandbox whose command was not told to run, and waits until nothing of it is left. */
async function abandon(spawned: Spawned, exited: Promise<Exit>): Promise<void> {
  const pid = spawned.initPid();
  const init = pid === undefined ? undefined : hostProcesses.identify(pid);
  spawned.gate.destroy();
  spawned.child.kill('SIGKILL');
  await exited.catch(() => undefined);
  if (init !== undefined) await untilGone(init);
}

async function untilReady(
  spawned: Spawned,
  exited: Promise<Exit>,
  words: EarlyWords,
  options: StartOptions,
): Promise<void> {
  const timeoutMs = options.readyTimeoutMs ?? 10_000;
  const overdue = AbortSignal.timeout(timeoutMs);
  const stop = options.signal === undefined ? overdue : AbortSignal.any([overdue, options.signal]);
  const ready = once(spawned.gate, 'data', { signal: stop }).then(([word]) =>
    String(word).startsWith(readyWord),
  );
  const ended = exited.then(() => false);
  try {
    if (await Promise.race([ready, ended])) return;
  } catch (error) {
    throwIfAborted(options.signal);
    if (!overdue.aborted) throw error;
    throw new CodelanesError(
      'COMMAND_UNAVAILABLE',
      `The sandbox was not ready within ${timeoutMs} ms, so the command was not started.`,
    );
  } finally {
    ready.catch(() => undefined);
    ended.catch(() => undefined);
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
