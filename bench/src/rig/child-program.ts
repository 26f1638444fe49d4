import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** A program of this folder in a process of its own: it takes its options as a message and answers once it serves. */
export class ChildProgram {
  /** What it said when it served. */
  readonly said: string;
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess, said: string) {
    this.#process = child;
    this.said = said;
  }

  /** `name` is that of the program's file. */
  static async start(name: string, options: object): Promise<ChildProgram> {
    const program = fileURLToPath(new URL(`${name}.js`, import.meta.url));
    const child = fork(program, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // The identities of files are numbers that JSON does not know.
      serialization: 'advanced',
    });
    child.send(options);
    const said = await Promise.race([
      once(child, 'message').then(([message]: unknown[]) => z.string().parse(message)),
      once(child, 'exit').then(() => undefined),
    ]);
    if (said === undefined) throw new Error(`${name} did not start; its own message is above.`);
    return new ChildProgram(child, said);
  }

  get pid(): number {
    if (this.#process.pid === undefined) throw new Error('A process that serves has an id.');
    return this.#process.pid;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await exited;
  }
}
