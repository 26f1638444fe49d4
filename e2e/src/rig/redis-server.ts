import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const lastingKeysScript = `
  local lasting = {}
  for _, key in ipairs(redis.call('KEYS', '*')) do
    if redis.call('PTTL', key) == -1 then lasting[#lasting + 1] = key end
  end
  return lasting`;

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
    for (let tries = 0; tries < 5; tries += 1) {
      const server = new RedisServer(await freePort(), folder, appendOnly);
      if (await server.#begin()) return server;
    }
    throw new Error('redis-server ends as soon as it is started.');
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again on the same port and folder. */
  async run(): Promise<void> {
    if (!(await this.#begin())) throw new Error(`Another process has taken the port ${this.port}.`);
  }

  /** Whether it answers: it ends where somebody else has taken the port that was free. */
  async #begin(): Promise<boolean> {
    const where = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, '--save', ''];
    const append = ['--appendonly', this.#appendOnly ? 'yes' : 'no'];
    const started = spawn('redis-server', [...where, ...append], { stdio: 'ignore' });
    this.#process = started;
    await once(started, 'spawn');
    while (started.exitCode === null && started.signalCode === null) {
      if (await answers(this.port, started.pid)) return true;
      await sleep(20);
    }
    return false;
  }

  /** Kills it as a crash would. */
  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running?.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, 'exit');
    running.kill('SIGKILL');
    await gone;
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

  /** What `redis-cli` prints for a command. */
  async ask(...command: readonly string[]): Promise<string> {
    const { stdout } = await run('redis-cli', ['-p', String(this.port), '--raw', ...command]);
    return stdout.trim();
  }

  /** The keys that nothing will ever remove. */
  async lastingKeys(): Promise<string[]> {
    const told = await this.ask('EVAL', lastingKeysScript, '0');
    return told === '' ? [] : told.split('\n');
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await run('cp', ['-R', `${from}/.`, to]);
}

/** Whether it is that very process that answers there. */
async function answers(port: number, pid: number | undefined): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.setEncoding('utf8').write('INFO server\r\nPING\r\n');
    let said = '';
    for await (const chunk of socket) {
      said += String(chunk);
      if (said.includes('-LOADING')) return false;
      if (said.includes('+PONG')) return said.includes(`process_id:${pid ?? 0}\r\n`);
    }
    return false;
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
