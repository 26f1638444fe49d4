import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { SystemClock } from '../system-clock.js';
import { RedisServer } from '../testing/redis-server.js';
import { connectRedis, type RedisClient, type RedisConnections } from './connections.js';
import { RedisKeys } from './keys.js';
import { RedisProcesses } from './redis-processes.js';

let server: RedisServer;
let connections: RedisConnections;
let processes: RedisProcesses;

beforeAll(async () => {
  server = await RedisServer.start({ appendOnly: true });
});
afterAll(async () => {
  await server.stop();
});
beforeEach(begin);
afterEach(end);

async function begin(): Promise<void> {
  connections = connectRedis({ url: server.url }, () => undefined);
  processes = new RedisProcesses({
    connections,
    keys: new RedisKeys('processes'),
    clock: new SystemClock(),
    withdrawAgain: () => Promise.resolve(),
  });
  await Promise.all([connections.commands.ping(), connections.subscriber.subscribe('news')]);
}

function end(): void {
  processes.close();
  connections.close();
}

it('knows that nothing was lost where only the connection that listens was cut', async () => {
  const lostSeconds = processes.lostSecondsOf('worker');
  lostSeconds.hear('call', 'delivered');
  const closed = once(connections.subscriber, 'close');
  await server.ask((client) => client.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
  await closed;
  expect(lostSeconds.mayHaveRun('call')).toBe(true);
  await expect.poll(() => lostSeconds.mayHaveRun('call'), { timeout: 30_000 }).toBe(false);
});

it('knows that seconds may be lost where another Redis answers, whichever connection is back first', async () => {
  const lostSeconds = processes.lostSecondsOf('worker');
  lostSeconds.hear('call', 'delivered');
  const wasRestarted = lostSeconds.restarts.watch();
  const { commands, subscriber } = connections;
  const connected = Promise.all([commands, subscriber].map((client) => once(client, 'ready')));
  await server.kill();
  await server.run();
  await connected;
  expect(await wasRestarted()).toBe(true);
  expect(lostSeconds.mayHaveRun('call')).toBe(true);
});

it('takes one that hides its name for another one only after the connection for commands was cut', async () => {
  await server.ask((client) => client.call('ACL', 'SETUSER', 'default', '-info'));
  try {
    end();
    await begin();
    const { restarts } = processes.lostSecondsOf('worker');
    const cut = async (type: 'pubsub' | 'normal', client: RedisClient): Promise<boolean> => {
      const wasRestarted = restarts.watch();
      const again = once(client, 'ready');
      await server.ask((other) => other.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes'));
      await again;
      return wasRestarted();
    };
    expect(await cut('pubsub', connections.subscriber)).toBe(false);
    expect(await cut('normal', connections.commands)).toBe(true);
  } finally {
    await server.ask((client) => client.call('ACL', 'SETUSER', 'default', '+info'));
  }
});
