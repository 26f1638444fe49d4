import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { AlreadyTold, CliError, exitStatus } from '../errors/cli-error.js';
import type { ReadyMessage, ReadyMessageOf } from './ready-channel.js';
import { isReadyMessageOf, readyMessageSchema } from './ready-channel.js';

const ownProgram = fileURLToPath(new URL('../main.js', import.meta.url));

/** Pauses between attempts to bring a child back. */
const restartPauseMs = { first: 100, most: 10_000 };

export interface ManagedChildOptions<Name extends ReadyMessage['kind']> {
  readonly name: Name;
  /** Arguments of the command line, asked for at every start. */
  readonly args: () => readonly string[];
  /** Told at each death that was not asked for, and at each return. */
  readonly say: (line: string) => void;
  /** Flags of Node itself. */
  readonly nodeFlags?: readonly string[];
  /** The file that Node runs; by default this command line itself. */
  readonly program?: string;
}

/**
 * A bridge or a worker as a process of its own. Once it has served, its death, however it came, is followed
 * by another start. It is no member of the terminal's process group, so that Ctrl-C reaches it only through
 * `stop`.
 */
export class ManagedChild<Name extends ReadyMessage['kind']> {
  readonly #options: ManagedChildOptions<Name>;
  #child: ChildProcess | undefined;
  #stopping = false;

  constructor(options: ManagedChildOptions<Name>) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Starts the process; resolves when it serves.
   *
   * @throws AlreadyTold where it ends before that and has said why on stderr; CliError where it died.
   */
  async start(): Promise<ReadyMessageOf<Name>> {
    const { name } = this.#options;
    const child = this.#spawn();
    const message = await readyOf(child);
    if (message === undefined || !isReadyMessageOf(name, message)) {
      const how = await exitOf(child);
      if (child.exitCode === exitStatus.failed || child.exitCode === exitStatus.usage) {
        throw new AlreadyTold(`The ${name} did not start.`);
      }
      throw new CliError(`The ${name} did not start (${how}).`, 'What it said is above; start it again.');
    }
    void this.#restartWhenGone(child);
    return message;
  }

  /** Ends the process at once, for good. What it runs in sandboxes ends with it. */
  kill(): void {
    this.#stopping = true;
    this.#child?.kill('SIGKILL');
  }

  /** Asks the process to drain and end, and resolves when it has. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (child === undefined || hasExited(child)) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }

  #spawn(): ChildProcess {
    const { program = ownProgram, nodeFlags = [], name, args } = this.#options;
    const child = spawn(process.execPath, [...nodeFlags, program, name, ...args()], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    this.#child = child;
    return child;
  }

  async #restartWhenGone(first: ChildProcess): Promise<void> {
    const { name, say } = this.#options;
    let child = first;
    let pauseMs = restartPauseMs.first;
    for (;;) {
      const how = await exitOf(child);
      if (this.#stopping) return;
      say(`The ${name} ended (${how}); starting it again.`);
      await pause(pauseMs);
      if (this.#isStopping()) return;
      child = this.#spawn();
      const ready = await readyOf(child);
      pauseMs = ready === undefined ? Math.min(pauseMs * 2, restartPauseMs.most) : restartPauseMs.first;
      if (ready !== undefined) say(`The ${name} is back (process ${child.pid ?? 0}).`);
    }
  }

  /** The flag may have changed while something was awaited. */
  #isStopping(): boolean {
    return this.#stopping;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function exitOf(child: ChildProcess): Promise<string> {
  if (!hasExited(child)) await once(child, 'exit');
  return child.signalCode ?? `status ${child.exitCode ?? 'unknown'}`;
}

/** What the child announced, or `undefined` where it ended first. */
function readyOf(child: ChildProcess): Promise<ReadyMessage | undefined> {
  return new Promise((resolve) => {
    child.once('message', (message) => {
      resolve(readyMessageSchema.parse(message));
    });
    child.once('exit', () => {
      resolve(undefined);
    });
    child.once('error', () => {
      resolve(undefined);
    });
  });
}
