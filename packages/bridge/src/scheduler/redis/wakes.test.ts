import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ManualClock } from '../manual-clock.js';
import { RedisServer } from '../testing/redis-server.js';
import { connectRedis, type RedisConnections } from './connections.js';
import { RedisKeys } from './keys.js';
import { Wakes } from './wakes.js';

let server: RedisServer;
let connections: RedisConnections;
let wakes: Wakes;
const keys = new RedisKeys('wakes');
const heard: string[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  heard.length = 0;
  connections = connectRedis({ url: server.url }, () => undefined);
  wakes = new Wakes(connections.subscriber, keys, new ManualClock(), 'bridge', {
    onNews: ({ workerId }) => heard.push(workerId),
    onEnd: (callId, end) => heard.push(`${callId}: ${end}`),
    onUnreadable: () => heard.push('unreadable'),
  });
});
afterEach(() => {
  wakes.close();
  connections.close();
});

/** Its subscription is cut off; resolves when it is connected again. */
async function cutOff(): Promise<void> {
  const again = once(connections.subscriber, 'ready');
  await server.ask((client) => client.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
  await again;
}

function publish(workerId: string): Promise<number> {
  return server.ask((client) => client.publish(keys.channelOf(workerId), ''));
}

it('hears of a worker again after its connection was cut', async () => {
  await wakes.hearOf('worker');
  let wakings = 0;
  wakes.onWorker('worker', () => (wakings += 1));
  await cutOff();
  await expect.poll(() => wakings).toBe(1);
  expect(await publish('worker')).toBe(1);
  await expect.poll(() => heard).toEqual(['worker']);
});

it('hears how its own calls ended, and not those of another bridge', async () => {
  await wakes.hearOf('worker');
  await server.ask((client) =>
    client.publish(keys.endsChannelOf('worker', 'another'), 'call settled|0|a|{}'),
  );
  await server.ask((client) =>
    client.publish(keys.endsChannelOf('worker', 'bridge'), 'call settled|0|b| {}'),
  );
  await expect.poll(() => heard).toEqual(['call: settled|0|b| {}']);
});

it('may be closed in the moment in which it is connected again', async () => {
  const thrown: unknown[] = [];
  const onThrown = (error: unknown): unknown => thrown.push(error);
  process.on('unhandledRejection', onThrown);
  await wakes.hearOf('worker');
  await cutOff();
  wakes.close();
  connections.close();
  if (connections.subscriber instanceof Redis) connections.subscriber.stream.destroy();
  await once(connections.subscriber, 'end');
  await turn();
  process.off('unhandledRejection', onThrown);
  expect(thrown).toEqual([]);
});
