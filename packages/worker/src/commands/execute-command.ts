import { finished } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { denialNotices } from '../network/denials.js';
import { endSandbox, untilGone } from '../sandbox/process-tree.js';
import { startSandboxed, type Exit, type Started, type StartOptions } from '../sandbox/start.js';
import { BoundedOutput } from './bounded-output.js';
import type { OutputCapture } from './output-capture.js';

/** Why a command is over. */
export type Ending = Exit | { readonly kind: 'timed_out' | 'cancelled' };

/** How it ended and whether nothing of it runs any more. */
export interface Ended {
  readonly ending: Ending;
  /** `false`: the sandbox could not be shown to be gone, and its lane must be quarantined. */
  readonly gone: boolean;
}

export interface ExecuteOptions extends StartOptions {
  /** Running time of the command, in milliseconds. */
  readonly timeoutMs: number;
  /** Bound on the bytes of both streams together. */
  readonly maxOutputBytes: number;
  /** Time between TERM and the kill, in milliseconds. */
  readonly graceMs?: number | undefined;
  /** How long what was killed may take to be gone, in milliseconds. */
  readonly goneWithinMs?: number | undefined;
  /**
   * What is to be done when the sandbox is over and before the result is made: audits, clearing of locks.
   * Returns what the agent is to be told. Called only for a command that was started.
   */
  readonly afterwards?: ((ended: Ended) => Promise<readonly string[]>) | undefined;
}

export interface CommandOutcome extends Ended {
  /** Null if and only if the command was cancelled, timed out or was ended by a signal. */
  readonly exitCode: number | null;
  readonly signal?: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly timedOut: boolean;
}

const defaultGraceMs = 2_000;
/** Output that a process outside the sandbox still holds open is not waited for longer than this, in milliseconds. */
const outputGraceMs = 500;

/**
 * Runs one command in a sandbox to its end. It is over when the command itself has left, whatever it started
 * in the background, and every process of it is gone before anything it wrote is looked at.
 *
 * @throws as `startSandboxed`: rejection means that nothing of the command ran, except when `afterwards` rejects.
 */
export async function executeCommand(options: ExecuteOptions): Promise<CommandOutcome> {
  const started = await startSandboxed(options);
  const output = new BoundedOutput(options.maxOutputBytes);
  const streams = [collect(started.stdout, output.stdout), collect(started.stderr, output.stderr)];
  const ending = await untilOver(started, options);
  const gone = await end(started, ending, options);
  await settleWithin(Promise.all(streams), outputGraceMs);
  started.stdout.destroy();
  started.stderr.destroy();
  const denials = await started.network?.close();
  const notices = (await options.afterwards?.({ ending, gone })) ?? [];
  return {
    ending,
    gone,
    ...exitFields(ending),
    ...output.render(denials === undefined ? notices : [...denialNotices(denials), ...notices]),
    timedOut: ending.kind === 'timed_out',
  };
}

function collect(stream: Readable, capture: OutputCapture): Promise<void> {
  stream.on('data', (chunk: Buffer) => {
    capture.write(chunk);
  });
  stream.resume();
  return finished(stream).catch(() => undefined);
}

async function untilOver(started: Started, options: ExecuteOptions): Promise<Ending> {
  const over = new AbortController();
  const stopped = new Promise<Ending>((resolve) => {
    const timer = setTimeout(() => {
      resolve({ kind: 'timed_out' });
    }, options.timeoutMs);
    const cancel = (): void => {
      resolve({ kind: 'cancelled' });
    };
    options.signal?.addEventListener('abort', cancel, { signal: over.signal });
    if (options.signal?.aborted === true) cancel();
    over.signal.addEventListener('abort', () => {
      clearTimeout(timer);
    });
  });
  try {
    return await Promise.race([started.exited, stopped]);
  } finally {
    over.abort();
  }
}

async function end(
  { init, kill }: Started,
  ending: Ending,
  { graceMs = defaultGraceMs, goneWithinMs }: ExecuteOptions,
): Promise<boolean> {
  const left = ending.kind === 'exited' || ending.kind === 'signalled';
  if (!left) return endSandbox({ init, kill, graceMs, goneWithinMs });
  return (await untilGone(init, goneWithinMs)) || endSandbox({ init, kill, graceMs: 0, goneWithinMs });
}

function exitFields(ending: Ending): { exitCode: number | null; signal?: NodeJS.Signals } {
  if (ending.kind === 'exited') return { exitCode: ending.code };
  return { exitCode: null, signal: ending.kind === 'signalled' ? ending.signal : 'SIGKILL' };
}

async function settleWithin(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
