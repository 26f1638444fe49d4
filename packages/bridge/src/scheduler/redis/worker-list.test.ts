import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ManualClock } from '../manual-clock.js';
import { RedisServer } from '../testing/redis-server.js';
import { connectRedis, type RedisConnections } from './connections.js';
import { RedisKeys } from './keys.js';
import { WorkerList } from './worker-list.js';

const keptMs = 3_600_000;
const keys = new RedisKeys('list');
const clock = new ManualClock();

let server: RedisServer;
let connections: RedisConnections;
let list: WorkerList;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  connections = connectRedis({ url: server.url }, () => undefined);
  list = new WorkerList(connections.commands, keys, clock, keptMs);
});
afterEach(async () => {
  connections.close();
  await server.ask((client) => client.flushall());
});

function known(workerId: string): Promise<unknown> {
  return server.ask((client) => client.hset(keys.stateOf(workerId), 'state', ''));
}

function listed(): Promise<readonly string[]> {
  return server.ask((client) => client.smembers(keys.workers));
}

it('keeps no name of a worker that is not known any more', async () => {
  await known('stays');
  for (const workerId of ['stays', 'one', 'other']) await list.note(workerId);
  expect(await list.ids()).toEqual(['stays']);
  expect(await listed()).toEqual(['stays']);
});

it('lists a worker again that registers after its keys were gone, however lately it was noted', async () => {
  await list.note('worker');
  expect(await list.ids()).toEqual([]);
  await known('worker');
  await list.enter('worker');
  expect(await list.ids()).toEqual(['worker']);
});

it('takes none off that registers while it is looked for', async () => {
  await list.note('worker');
  const { commands } = connections;
  const takeOff = commands.srem.bind(commands);
  commands.srem = async (...args: readonly unknown[]) => {
    const [, ...workerIds] = args.map(String);
    await known('worker');
    return takeOff(keys.workers, workerIds);
  };
  expect(await list.ids()).toEqual(['worker']);
  expect(await listed()).toEqual(['worker']);
});

it('never stands without a time to live, wherever its bridge dies', async () => {
  connections.commands.pexpire = () => Promise.reject(new Error('the bridge was killed before this'));
  await list.note('worker').catch(() => undefined);
  expect(await server.ask((client) => client.pttl(keys.workers))).toBeGreaterThan(0);
});
