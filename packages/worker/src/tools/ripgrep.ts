import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Directory } from '../files/directory.js';
import { decodeUtf8 } from './utf8-text.js';

/** Ripgrep could not do its work; the operation that asked decides the code. */
export class RipgrepFailure extends Error {
  override readonly name = 'RipgrepFailure';

  readonly kind: 'timeout' | 'unavailable';

  constructor(kind: 'timeout' | 'unavailable', message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/**
 * Hidden files are files like others, Git's storage is not. What the repository ignores is left out, what only
 * the operator's own settings ignore is not. No link is followed, no setting of the operator's is read.
 */
const fixedArguments = [
  '--no-config',
  '--no-messages',
  '--no-follow',
  '--no-ignore-global',
  '--hidden',
  '--null',
  '--iglob',
  '!.git',
];

export interface RipgrepWalk {
  readonly executable: string | undefined;
  /** Where it walks; it enters this very directory whatever its path leads to by then. */
  readonly directory: Directory;
  /** Names in that directory that are left out. */
  readonly hidden: readonly string[];
  /** What it does beside walking: `--files`, or a search that lists files. */
  readonly arguments: readonly string[];
  readonly signal: AbortSignal;
  /** Moment of `performance.now()` at which it is stopped. */
  readonly deadline: number;
}

/**
 * Runs ripgrep and hands over every path that it prints, relative to the directory, in no order. Names that are
 * not UTF-8 are left out, as is what the worker may not read. A walk goes by names, so what is exchanged for a
 * link meanwhile can make it see things outside: whoever uses a path opens it confined, or drops it.
 *
 * @throws RipgrepFailure; the reason of `signal` when that is aborted.
 */
export async function walkWithRipgrep(walk: RipgrepWalk, onPath: (path: string) => void): Promise<void> {
  if (walk.executable === undefined) {
    throw new RipgrepFailure('unavailable', 'The machine of this worker has no ripgrep ("rg") on its PATH.');
  }
  const globs = walk.hidden.flatMap((name) => ['--glob', `!/${literally(name)}`]);
  const child = spawn(walk.executable, [...fixedArguments, ...globs, ...walk.arguments, '--', './'], {
    cwd: `/proc/self/fd/${walk.directory.fd}`,
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await untilEnd(child, walk, onPath);
}

/** A name of which nothing means anything to a glob. */
function literally(name: string): string {
  return name.replace(/[*?[\]{}\\!]/gu, '\\$&');
}

async function untilEnd(
  child: ChildProcessByStdio<null, Readable, null>,
  { signal, deadline }: RipgrepWalk,
  onPath: (path: string) => void,
): Promise<void> {
  const stop = (): void => {
    child.kill('SIGKILL');
  };
  const timer = setTimeout(stop, Math.max(0, deadline - performance.now()));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const paths = new PathStream(onPath);
    await new Promise<void>((resolve, reject) => {
      child.once('error', (cause) => {
        reject(new RipgrepFailure('unavailable', 'Ripgrep could not be started.', { cause }));
      });
      child.stdout.on('data', (chunk: Buffer) => {
        paths.push(chunk);
      });
      child.once('close', (_code, killedBy) => {
        if (killedBy === null) resolve();
        else reject(new RipgrepFailure('timeout', 'The walk through the files did not end in time.'));
      });
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** Cuts a stream of names that each end in NUL, wherever its chunks end. */
class PathStream {
  readonly #onPath: (path: string) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onPath: (path: string) => void) {
    this.#onPath = onPath;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let offset = 0;
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, offset)) {
      const path = decodeUtf8(bytes.subarray(offset, end));
      if (path !== undefined) this.#onPath(path.replace(/^\.\//u, ''));
      offset = end + 1;
    }
    this.#rest = bytes.subarray(offset);
  }
}
