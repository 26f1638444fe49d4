import { finished } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { endsWithin } from '../clock/ends-within.js';
import type { ProcessIdentity } from '../lanes/processes.js';
import { denialNotices } from '../network/denials.js';
import { endSandbox, untilGone } from '../sandbox/process-tree.js';
import type { Exit, Started } from '../sandbox/gated-sandbox.js';
import { BoundedOutput, type RenderedOutput } from './bounded-output.js';
import type { OutputCapture } from './output-capture.js';

/** Why a command is over. */
export type Ending = Exit | { readonly kind: 'timed_out' | 'cancelled' };

/** How it ended and whether nothing of it runs any more. */
export interface Ended {
  readonly ending: Ending;
  /** `false`: the sandbox could not be shown to be gone, and its lane must be quarantined. */
  readonly gone: boolean;
}

export interface RunningOptions {
  /** Bound on the bytes of both streams together. */
  readonly maxOutputBytes: number;
  /** Time between TERM and the kill, in milliseconds. */
  readonly graceMs?: number | undefined;
  /** How long what was killed may take to be gone, in milliseconds. */
  readonly goneWithinMs?: number | undefined;
  /** Handed what is written to either stream, as it comes. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
}

export interface WaitOptions {
  /** Running time that is left, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const defaultGraceMs = 2_000;
/** Output that a process outside the sandbox still holds open is not waited for longer than this, in milliseconds. */
const outputGraceMs = 500;

/** A command that runs in its sandbox: what it says is collected, and its end is waited for or brought about. */
export class RunningCommand {
  readonly #started: Started;
  readonly #options: RunningOptions;
  readonly #output: BoundedOutput;
  readonly #streams: Promise<unknown>;
  #notices: readonly string[] = [];

  constructor(started: Started, options: RunningOptions) {
    this.#started = started;
    this.#options = options;
    this.#output = new BoundedOutput(options.maxOutputBytes);
    this.#streams = Promise.all([
      collect(started.stdout, this.#output.stdout, options.onOutput),
      collect(started.stderr, this.#output.stderr, options.onOutput),
    ]);
  }

  get init(): ProcessIdentity {
    return this.#started.init;
  }

  /** What it has written to its standard output so far. */
  get stdoutSoFar(): string {
    return this.#output.stdout.render(this.#options.maxOutputBytes);
  }

  /**
   * Resolves when the command has left by itself, its time is over or it was cancelled; it may still run then. Resolves
   * as `or` does, where that comes first.
   */
  async untilOver<T = never>({ timeoutMs, signal }: WaitOptions, or?: Promise<T>): Promise<Ending | T> {
    const over = new AbortController();
    const stopped = new Promise<Ending>((resolve) => {
      const timer = setTimeout(() => {
        resolve({ kind: 'timed_out' });
      }, timeoutMs);
      const cancel = (): void => {
        resolve({ kind: 'cancelled' });
      };
      signal?.addEventListener('abort', cancel, { signal: over.signal });
      if (signal?.aborted === true) cancel();
      over.signal.addEventListener('abort', () => {
        clearTimeout(timer);
      });
    });
    try {
      return await Promise.race([this.#started.exited, stopped, ...(or === undefined ? [] : [or])]);
    } finally {
      over.abort();
    }
  }

  /** Ends what is left of it, and has all of its output. Between TERM and the kill its own grace passes by default. */
  async end(ending: Ending, graceMs = this.#options.graceMs): Promise<Ended> {
    const gone = await this.#end(ending, graceMs);
    await endsWithin(this.#streams, outputGraceMs);
    this.#started.stdout.destroy();
    this.#started.stderr.destroy();
    const denials = await this.#started.network?.close();
    if (denials !== undefined) this.#notices = denialNotices(denials);
    return { ending, gone };
  }

  /** What it wrote, once it has ended; the notices come last. */
  render(notices: readonly string[]): RenderedOutput {
    return this.#output.render([...this.#notices, ...notices]);
  }

  async #end(ending: Ending, graceMs = defaultGraceMs): Promise<boolean> {
    const { init, kill } = this.#started;
    const { goneWithinMs } = this.#options;
    const left = ending.kind === 'exited' || ending.kind === 'signalled';
    if (!left) return endSandbox({ init, kill, graceMs, goneWithinMs });
    return (await untilGone(init, goneWithinMs)) || endSandbox({ init, kill, graceMs: 0, goneWithinMs });
  }
}

/** Exit code and signal as results tell them. */
export function exitFields(ending: Ending): { exitCode: number | null; signal?: NodeJS.Signals } {
  if (ending.kind === 'exited') return { exitCode: ending.code };
  return { exitCode: null, signal: ending.kind === 'signalled' ? ending.signal : 'SIGKILL' };
}

function collect(
  stream: Readable,
  capture: OutputCapture,
  onOutput: RunningOptions['onOutput'],
): Promise<void> {
  stream.on('data', (chunk: Buffer) => {
    capture.write(chunk);
    onOutput?.(chunk);
  });
  stream.resume();
  return finished(stream).catch(() => undefined);
}
