import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { newMarker, untilSleeping } from './live-processes.js';

/**
 * Keeps a sandbox from being gone, although it is killed: a process of the host is put into its pid namespace,
 * and its parent on the host is stopped, so that nobody reaps it. The kernel lets the namespace's init leave
 * only after that. Needs root, like whatever makes processes unkillable on a real machine.
 */
export class HeldSandbox {
  readonly #parent: ChildProcess;

  private constructor(parent: ChildProcess) {
    this.#parent = parent;
  }

  /** Holds the sandbox in which that process runs. @throws Error where this is not root. */
  static async hold(inside: number): Promise<HeldSandbox> {
    if (process.geteuid?.() !== 0) {
      throw new Error('Only root can keep a sandbox from being gone: run the tests of quarantine as root.');
    }
    const marker = newMarker();
    const parent = spawn('nsenter', ['--target', String(inside), '--pid', 'sleep', marker], {
      stdio: 'ignore',
    });
    await untilSleeping(marker);
    parent.kill('SIGSTOP');
    return new HeldSandbox(parent);
  }

  /** Lets it go: what was killed is gone from then on. */
  async free(): Promise<void> {
    if (this.#parent.exitCode !== null || this.#parent.signalCode !== null) return;
    const exited = once(this.#parent, 'exit');
    this.#parent.kill('SIGKILL');
    this.#parent.kill('SIGCONT');
    await exited;
  }
}
