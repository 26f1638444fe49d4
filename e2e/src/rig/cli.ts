import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Deployment } from './deployment.js';

const program = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));

/** What a run of the command line left behind. */
export interface CliEnd {
  /** `null` where a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The command line as a process of its own, as a person would start it. */
export class Cli {
  readonly process: ChildProcess;
  readonly #ended: Promise<CliEnd>;
  stdout = '';
  stderr = '';

  private constructor(child: ChildProcess) {
    this.process = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#ended = once(child, 'close').then(() => ({
      status: child.exitCode,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** Starts `codelanes` with these words and nothing of this machine's own Codelanes. */
  static start(words: readonly string[], options: CliOptions = {}): Cli {
    const { PATH = '' } = process.env;
    return new Cli(
      spawn(process.execPath, [program, ...words], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH, HOME: '/nonexistent', ...options.environment },
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      }),
    );
  }

  /** Runs it to its end. */
  static run(words: readonly string[], options: CliOptions = {}): Promise<CliEnd> {
    return Cli.start(words, options).ended;
  }

  get ended(): Promise<CliEnd> {
    return this.#ended;
  }

  /** Waits until it has said that, on either stream. */
  async said(text: string | RegExp): Promise<string> {
    for (;;) {
      const everything = `${this.stdout}${this.stderr}`;
      const found =
        typeof text === 'string'
          ? everything.includes(text)
            ? text
            : undefined
          : text.exec(everything)?.[0];
      if (found !== undefined) return found;
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        throw new Error(`codelanes ended without saying ${String(text)}: ${everything}`);
      }
      await sleep(10);
    }
  }

  async end(signal: NodeJS.Signals): Promise<CliEnd> {
    this.process.kill(signal);
    return this.#ended;
  }
}

/** The environment by which the command line finds a deployment, as a caller or as its administrator. */
export function asCaller({ url, tokens }: Deployment): Record<string, string> {
  return { CODELANES_URL: url, CODELANES_TOKEN: tokens.caller, CODELANES_WORKER: 'w1' };
}

export function asAdmin(deployment: Deployment): Record<string, string> {
  return { ...asCaller(deployment), CODELANES_TOKEN: deployment.tokens.admin };
}
