import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A Redis of its own on a free port of 127.0.0.1, with a folder of its own that ends with it. */
export class RedisServer {
  readonly port: number;
  readonly folder: string;
  readonly #appendOnly: boolean;
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string, appendOnly: boolean) {
    this.port = port;
    this.folder = folder;
    this.#appendOnly = appendOnly;
  }

  /** Resolves when it answers; `appendOnly` makes a restart keep what was written. */
  static async start({ appendOnly = false } = {}): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'codelanes-redis-'));
    const server = new RedisServer(await freePort(), folder, appendOnly);
    await server.run();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it (again) on the same port and folder. */
  async run(): Promise<void> {
    const where = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, '--save', ''];
    const append = ['--appendonly', this.#appendOnly ? 'yes' : 'no'];
    this.#process = spawn('redis-server', [...where, ...append], { stdio: 'ignore' });
    await once(this.#process, 'spawn');
    while (!(await answers(this.port))) await sleep(20);
  }

  /** Kills it as a crash would. */
  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined) return;
    const gone = once(running, 'exit');
    running.kill('SIGKILL');
    await gone;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    const reply: unknown[] = await once(socket, 'data');
    return String(reply[0]).startsWith('+PONG');
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('there is no free port');
  return address.port;
}
