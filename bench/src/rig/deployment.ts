import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { Caller } from './caller.js';
import { childrenOf } from './processes.js';

export interface DeploymentOptions {
  /** An empty folder for tokens, journals and homes. */
  readonly state: string;
  readonly roots: readonly string[];
  readonly slots: number;
}

const connectionSchema = z.object({
  url: z.string(),
  workerId: z.string(),
  workspaces: z.array(z.string()).min(1),
});

/** A bridge and a worker as `codelanes up` starts them: real processes with their usual settings. */
export class Deployment {
  readonly url: string;
  readonly workerId: string;
  readonly workspaces: readonly string[];
  readonly #state: string;
  readonly #up: ChildProcess;
  readonly #callers: Caller[] = [];

  private constructor(up: ChildProcess, state: string) {
    const connection = connectionSchema.parse(
      JSON.parse(readFileSync(join(state, 'connection.json'), 'utf8')),
    );
    this.url = connection.url;
    this.workerId = connection.workerId;
    this.workspaces = connection.workspaces;
    this.#state = state;
    this.#up = up;
  }

  static async start({ state, roots, slots }: DeploymentOptions): Promise<Deployment> {
    const cli = fileURLToPath(import.meta.resolve('codelanes/dist/main.js'));
    const options = ['--port', '0', '--slots', String(slots), '--state', state];
    const rootFlags = roots.flatMap((root) => ['--root', root]);
    const asRoot = process.getuid?.() === 0 ? ['--allow-root'] : [];
    const up = spawn(process.execPath, [cli, 'up', ...options, ...rootFlags, ...asRoot], {
      // The channel says nothing; that it closes tells `up` to stop where this process was killed.
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const { stdout: output } = up;
    if (output === null) throw new Error('`codelanes up` has no output to read.');
    // It speaks once both processes serve, and has written how they are found by then.
    const spoke = await Promise.race([
      once(output, 'data').then(() => true),
      once(up, 'exit').then(() => false),
    ]);
    if (!spoke) throw new Error('`codelanes up` did not start; its own message is above.');
    output.resume();
    return new Deployment(up, state);
  }

  /** The bridge's and the worker's process. */
  get processes(): readonly number[] {
    const pids = this.#up.pid === undefined ? [] : childrenOf(this.#up.pid);
    if (pids.length !== 2) throw new Error(`Expected a bridge and a worker, found ${pids.length} processes.`);
    return pids;
  }

  /** A caller of one workspace with connections of its own; closed with the deployment. */
  caller(workspaceId = this.workspaces[0], workerId = this.workerId): Caller {
    const tokens = { caller: this.token('caller'), admin: this.token('admin') };
    const caller = new Caller({ url: this.url, tokens, workerId, workspaceId: workspaceId ?? '' });
    this.#callers.push(caller);
    return caller;
  }

  token(kind: 'caller' | 'admin' | 'worker'): string {
    return readFileSync(join(this.#state, 'tokens', kind), 'utf8').trim();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#callers.map((caller) => caller.close()));
    if (this.#up.exitCode !== null || this.#up.signalCode !== null) return;
    const exited = once(this.#up, 'exit');
    this.#up.kill('SIGTERM');
    await exited;
  }
}

/** Serves these roots for as long as the work takes. */
export async function withDeployment<T>(
  options: DeploymentOptions,
  work: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  const deployment = await Deployment.start(options);
  try {
    return await work(deployment);
  } finally {
    await deployment.stop();
  }
}
