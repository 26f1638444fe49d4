import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { RedisServer } from '../../testing/redis-server.js';
import { connectRedis, type RedisConnections } from '../connections.js';
import { RedisKeys } from '../keys.js';
import { RequestWhereabouts } from './request-whereabouts.js';

const keys = new RedisKeys('names');
const day = 24 * 3_600_000;

let server: RedisServer;
let connections: RedisConnections;
let names: RequestWhereabouts;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  connections = connectRedis({ url: server.url }, () => undefined);
  names = new RequestWhereabouts(connections.commands, keys);
});
afterEach(() => {
  connections.close();
});

function livesOf(requestId: string): Promise<number> {
  return server.ask((client) => client.pttl(keys.workerOfRequest('ann', requestId)));
}

it('knows a request for as long as that is kept, also where its bridge dies as soon as it was taken in', async () => {
  expect(await names.claim('ann', 'taken-in', 'worker', day)).toEqual({ workerId: 'worker', isNew: true });
  expect(await livesOf('taken-in')).toBeGreaterThan(day / 2);
  expect(await names.claim('ann', 'taken-in', 'another', day)).toEqual({ workerId: 'worker', isNew: false });
});

it('leaves the name of a refused one free within a minute', async () => {
  await names.claim('ann', 'refused', 'worker', day);
  await names.letGo('ann', 'refused');
  expect(await livesOf('refused')).toBeLessThanOrEqual(60_000);
});
