import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RedisServer } from '../testing/redis-server.js';
import { connectRedis, type RedisConnections } from './connections.js';

const times = { silentMs: 1_000, askedEveryMs: 100 };

let server: RedisServer;
let connections: RedisConnections | undefined;

beforeEach(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  connections?.close();
  await server.stop();
});

/** On a busy machine also a Redis that lives may be slower than that for a while. */
async function served(command: () => Promise<unknown>): Promise<void> {
  await vi.waitFor(command, 30_000);
}

function connected(url: string): RedisConnections {
  connections = connectRedis({ url }, () => undefined, times);
  return connections;
}

/** Connections of the present that carry nothing any more and stay open, as when a machine is gone without a word. */
class SilentPath {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];

  constructor(port: number) {
    this.#server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      near.pipe(far).pipe(near);
      this.#sockets.push(near, far);
      for (const socket of [near, far]) socket.on('error', () => undefined);
    });
  }

  async open(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('there is no port');
    return `redis://127.0.0.1:${address.port}`;
  }

  fallSilent(): void {
    for (const socket of this.#sockets) socket.unpipe();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Says what Redis 6 says that loads its data for as long as it likes, and then serves. */
function loadingRedis(answers: string[]): Server {
  const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
  return createServer((socket) => {
    socket.setEncoding('utf8').on('data', (sent: string) => {
      for (const [, word = ''] of sent.matchAll(/^(hello|client|info|ping)\r$/gim)) {
        const command = word.toUpperCase();
        if (command === 'INFO') socket.write(bulk(answers.shift() ?? 'loading:0'));
        else socket.write(command === 'PING' ? '+PONG\r\n' : `-ERR unknown command '${command}'\r\n`);
      }
    });
  });
}

it('asks one that loads its data again and again, however long that says that it will take', async () => {
  const waits = vi.spyOn(globalThis, 'setTimeout');
  const loading = loadingRedis(Array.from({ length: 3 }, () => 'loading:1\r\nloading_eta_seconds:30'));
  loading.listen(0, '127.0.0.1');
  try {
    await once(loading, 'listening');
    const address = loading.address();
    if (address === null || typeof address === 'string') throw new Error('there is no port');
    connections = connectRedis({ url: `redis://127.0.0.1:${address.port}` }, () => undefined, {
      ...times,
      silentMs: 60_000,
    });
    expect(await connections.commands.ping()).toBe('PONG');
    expect(waits.mock.calls.filter(([, ms]) => ms === 10_000 || ms === 30_000)).toEqual([]);
  } finally {
    connections?.close();
    loading.close();
  }
});

it('ends every command of a Redis that stands still, and serves again once that goes on', async () => {
  const { commands, subscriber } = connected(server.url);
  await served(() => commands.ping());
  server.signal('SIGSTOP');
  const [before, subscribed] = [commands.get('a'), subscriber.subscribe('b')];
  // Both at once: either may be the first to be given up.
  await Promise.all([expect(before).rejects.toThrow('timed out'), expect(subscribed).rejects.toThrow()]);
  await expect(commands.get('a')).rejects.toThrow();
  server.signal('SIGCONT');
  await vi.waitFor(async () => {
    expect(await commands.get('a')).toBeNull();
  }, 30_000);
});

it('leaves a connection that nothing comes through any more, and asks over a new one', async () => {
  const path = new SilentPath(server.port);
  try {
    const { commands } = connected(await path.open());
    await served(() => commands.set('a', '1'));
    path.fallSilent();
    await commands.get('a').catch(() => undefined);
    await vi.waitFor(async () => {
      expect(await commands.get('a')).toBe('1');
    }, 30_000);
  } finally {
    path.close();
  }
});

it('finds out that a connection that only listens hears nothing any more, and listens over a new one', async () => {
  const path = new SilentPath(server.port);
  try {
    const { commands, subscriber } = connected(await path.open());
    await served(() => subscriber.subscribe('news'));
    path.fallSilent();
    await new Promise((resolve) => subscriber.once('ready', resolve));
    await served(() => subscriber.subscribe('news'));
    const heard = once(subscriber, 'message');
    await served(() => commands.publish('news', 'again'));
    expect(await heard).toEqual(['news', 'again']);
  } finally {
    path.close();
  }
});
