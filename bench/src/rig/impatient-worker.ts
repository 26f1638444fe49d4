import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@codelanes/worker';

const program = fileURLToPath(new URL('worker-process.js', import.meta.url));

/** A real worker process with options that the command line does not offer. */
export class ImpatientWorker {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  static async start(options: WorkerOptions): Promise<ImpatientWorker> {
    const child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.send(options);
    const ready = await Promise.race([
      once(child, 'message').then(() => true),
      once(child, 'exit').then(() => false),
    ]);
    if (!ready) throw new Error('The worker did not start; its own message is above.');
    return new ImpatientWorker(child);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await exited;
  }
}
