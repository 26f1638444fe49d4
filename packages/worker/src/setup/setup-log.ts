import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { tailOf } from '../commands/output-capture.js';

/** Bytes that are written as they come; beyond them only the end is kept. */
const headBytes = 4 * 1024 ** 2;
const tailBytes = 1024 ** 2;
/** Runs of one worktree whose logs are kept. */
const keptLogs = 5;
/** How much of the end is told to whoever calls into a lane whose setup failed. */
const toldBytes = 2_000;

const suffix = '.log';

/** What one run of a setup says, as it says it: in a file that can be read while it runs, of bounded size. */
export class SetupLog {
  readonly #fd: number;
  #written = 0;
  #omitted = 0;
  #end: Uint8Array[] = [];
  #endBytes = 0;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Opens the log of a new run and drops the oldest ones of its worktree. */
  static create(folder: string, run: { readonly call: string; readonly startedAt: number }): SetupLog {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const old of logsIn(folder).slice(0, -(keptLogs - 1))) rmSync(join(folder, old), { force: true });
    const name = `${new Date(run.startedAt).toISOString()}-${run.call}${suffix}`;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
    return new SetupLog(openSync(join(folder, name), flags, 0o600));
  }

  write(chunk: Uint8Array): void {
    const room = Math.max(0, headBytes - this.#written);
    const now = chunk.subarray(0, room);
    this.#append(now);
    this.#written += now.length;
    this.#omitted += chunk.length - now.length;
    this.#end.push(chunk);
    this.#endBytes += chunk.length;
    while (this.#endBytes - (this.#end[0]?.length ?? 0) >= tailBytes) {
      this.#endBytes -= this.#end.shift()?.length ?? 0;
    }
  }

  /** A line of the worker's own. */
  say(line: string): void {
    this.write(Buffer.from(`codelanes: ${line}\n`));
  }

  /** The last lines, as far as a refusal has room for them. */
  end(): string {
    return tailOf(Buffer.concat(this.#end), toldBytes).toString().trim();
  }

  close(): void {
    if (this.#omitted > 0) {
      const end = Buffer.concat(this.#end);
      const kept = end.subarray(-Math.min(end.length, this.#omitted));
      this.#append(Buffer.from(`\n[... ${this.#omitted - kept.length} bytes omitted ...]\n`));
      this.#append(kept);
    }
    closeSync(this.#fd);
  }

  #append(bytes: Uint8Array): void {
    try {
      writeSync(this.#fd, bytes);
    } catch {
      // A full disk costs the log, never the setup.
    }
  }
}

/** The text of the newest log of a worktree; `undefined` where there is none. */
export function newestLog(folder: string): string | undefined {
  const newest = logsIn(folder).at(-1);
  return newest === undefined ? undefined : readFileSync(join(folder, newest), 'utf8');
}

/** Oldest first, as their names begin with their time. */
function logsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .sort();
}
