import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const messageSchema = z.union([
  z.strictObject({ ready: z.string() }),
  z.strictObject({ failed: z.string() }),
]);

/** Beyond the first ones, which Node shuts off from its children by itself. */
export const inheritedAs = 40;

/** What a process under test finds where it is started. */
export interface Surroundings {
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** A descriptor that it gets as `inheritedAs`, as from a careless service manager. */
  readonly inherited?: number | undefined;
  /** A program and its first arguments that are put before its own, and which ends by becoming it. */
  readonly launcher?: readonly string[] | undefined;
}

/** A process under test: the real thing, which can be killed and stopped. */
export class Child {
  readonly process: ChildProcess;
  /** What it wrote: the bridge logs to stdout, the worker to stderr. */
  log = '';

  private constructor(child: ChildProcess) {
    this.process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.log += chunk.toString();
      });
    }
  }

  /** Starts one of `processes/` with options; resolves with what it announced. */
  static async start(
    name: 'bridge' | 'worker' | 'logging-worker',
    options: object,
    { environment = process.env, inherited, launcher = [] }: Surroundings = {},
  ): Promise<{ child: Child; announced: string }> {
    const program = fileURLToPath(new URL(`../../dist/rig/processes/${name}-process.js`, import.meta.url));
    const [command, ...words] = [...launcher, process.execPath, program];
    const spawned = spawn(command, words, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...leaked(inherited)],
      env: environment,
      // The identities of files are numbers that JSON does not know.
      serialization: 'advanced',
    });
    const child = new Child(spawned);
    spawned.send(options);
    const exited = once(spawned, 'exit').then(() => ({ failed: `it ended: ${child.log}` }));
    const message = await Promise.race([
      once(spawned, 'message').then(([first]) => messageSchema.parse(first)),
      exited,
    ]);
    if ('failed' in message) throw new Error(`The ${name} did not start: ${message.failed}`);
    return { child, announced: message.ready };
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** Resolves when it has ended by itself. */
  get exited(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return Promise.resolve();
    return once(this.process, 'exit').then(() => undefined);
  }

  /** Sends a signal and waits for the end that it brings. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill(signal);
    await exited;
  }
}

function leaked(descriptor: number | undefined): ('ignore' | number)[] {
  if (descriptor === undefined) return [];
  return [...Array.from({ length: inheritedAs - 4 }, () => 'ignore' as const), descriptor];
}
