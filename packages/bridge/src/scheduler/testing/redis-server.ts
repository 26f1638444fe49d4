import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';

export interface RedisServerOptions {
  /** Write every change to disk, so that a restart keeps it. */
  readonly appendOnly?: boolean | undefined;
  readonly cluster?: boolean | undefined;
}

/** A Redis of its own on a free port of 127.0.0.1, with a folder of its own that ends with it. */
export class RedisServer {
  readonly port: number;
  readonly folder: string;
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string, options: RedisServerOptions) {
    this.port = port;
    this.folder = folder;
    this.#args = [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
      ...['--appendonly', options.appendOnly === true ? 'yes' : 'no', '--appendfsync', 'always'],
      ...['--repl-diskless-sync-delay', '0'],
      // A node that merely stands still for seconds is not given up by the others.
      ...(options.cluster === true ? ['--cluster-enabled', 'yes', '--cluster-node-timeout', '30000'] : []),
    ];
  }

  /** Resolves when it answers. @throws Error where no redis-server can be started. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'codelanes-redis-'));
    for (let tries = 0; tries < 20; tries += 1) {
      const server = new RedisServer(anyPort(), folder, options);
      if (await server.#begin()) return server;
    }
    throw new Error('redis-server ended at once on each of 20 ports');
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again on the same port and folder. */
  async run(): Promise<void> {
    if (!(await this.#begin())) throw new Error(`something else has port ${this.port} meanwhile`);
  }

  /** Whether it is this process that answers at the port, as one that finds it taken ends at once. */
  async #begin(): Promise<boolean> {
    const started = spawn('redis-server', this.#args, { stdio: 'ignore' });
    await once(started, 'spawn');
    this.#process = started;
    const ended = once(started, 'exit').then(() => '');
    const told = await this.ask((client) => Promise.race([ended, client.info('server')]));
    if (told.includes(`\nprocess_id:${started.pid}\r`)) return true;
    await this.kill();
    return false;
  }

  /** Kills it as a crash would. */
  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    // One that has ended by itself tells it no more.
    if (running?.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, 'exit');
    running.kill('SIGKILL');
    await gone;
  }

  /** Stops it where it stands, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(signal);
  }

  /** Takes a copy of all that it has written; what is returned brings the killed server back to that. */
  async copy(): Promise<() => Promise<void>> {
    const kept = await mkdtemp(join(tmpdir(), 'codelanes-redis-copy-'));
    await copyFolder(this.folder, kept);
    return async () => {
      await rm(this.folder, { recursive: true });
      await mkdir(this.folder);
      await copyFolder(kept, this.folder);
      await rm(kept, { recursive: true });
    };
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Asks it something over a connection of its own, waiting until it answers. */
  async ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(this.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
    client.on('error', () => undefined);
    try {
      return await question(client);
    } finally {
      client.disconnect();
    }
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-R', `${from}/.`, to]);
}

/**
 * A port that the system gives to nobody who asks for any, so that it is still free after the server was killed. A
 * cluster also takes the port 10,000 above for its bus.
 */
function anyPort(): number {
  return randomInt(11_000, 21_000);
}
