import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const messageSchema = z.union([
  z.strictObject({ ready: z.string() }),
  z.strictObject({ failed: z.string() }),
]);

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
    name: 'bridge' | 'worker',
    options: object,
    environment: NodeJS.ProcessEnv = process.env,
  ): Promise<{ child: Child; announced: string }> {
    const program = fileURLToPath(new URL(`../../dist/rig/processes/${name}-process.js`, import.meta.url));
    const spawned = spawn(process.execPath, [program], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: environment,
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

  /** Sends a signal and waits for the end that it brings. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill(signal);
    await exited;
  }
}
