import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';

/** A Redis of its own on a free port of 127.0.0.1, which keeps what it has in an empty folder. */
export class RedisServer {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.#process = child;
  }

  /**
   * Resolves when it answers. Everything is as Redis ships it, in Debian's package too: snapshots, and where there is
   * an append-only file, one sync of it a second. That file is turned off as shipped and on as operators are told to.
   */
  static async start(folder: string, appendOnly: 'yes' | 'no' = 'yes'): Promise<RedisServer> {
    const port = await freePort();
    const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
    const child = spawn('redis-server', [...place, '--appendonly', appendOnly], { stdio: 'ignore' });
    await once(child, 'spawn');
    const server = new RedisServer(port, child);
    await server.ask((client) => client.ping());
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
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

  /** How many commands its clients send while something happens; what scripts do inside is not counted. */
  async sentWhile(work: () => Promise<unknown>): Promise<number> {
    return this.ask(async (client) => {
      const monitor = await client.monitor();
      let sent = 0;
      monitor.on('monitor', (_time: string, _args: readonly string[], source: string) => {
        if (source !== 'lua') sent += 1;
      });
      await work();
      monitor.disconnect();
      return sent;
    });
  }

  /** How many commands it has run since it started, those of scripts included. */
  async commandsRun(): Promise<number> {
    const stats = await this.ask((client) => client.info('stats'));
    return Number(/total_commands_processed:(\d+)/.exec(stats)?.[1]);
  }

  async stop(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}

/** Serves an empty Redis for as long as the work takes. */
export async function withRedis<T>(folder: string, work: (redis: RedisServer) => Promise<T>): Promise<T> {
  const redis = await RedisServer.start(folder);
  try {
    return await work(redis);
  } finally {
    await redis.stop();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('A server on TCP has no port.');
  return address.port;
}
