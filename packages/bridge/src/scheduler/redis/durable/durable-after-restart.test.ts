import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DurableView, NewDurableRequest } from '../../durable-requests.js';
import { ManualClock } from '../../manual-clock.js';
import { RedisStore } from '../../redis-store.js';
import type { Loss } from '../../store.js';
import { onceReached } from '../../testing/once-reached.js';
import { RedisServer } from '../../testing/redis-server.js';
import { WorkerAtStore } from '../../testing/worker-at-store.js';

const lane = ['primary', 'worktree:a'] as const;
const queueWaitMs = 30_000;
const neverRan = { state: 'ended', end: { how: 'withdrawn' } };
const unknown = { state: 'ended', end: { how: 'interrupted' } };

let server: RedisServer;
let clock: ManualClock;
let worker: WorkerAtStore;
/** It has the lane, so that requests wait. */
let running: string;
let prefixes = 0;
const open: RedisStore[] = [];

beforeAll(async () => {
  server = await RedisServer.start({ appendOnly: true });
});

afterAll(async () => {
  await server.stop();
});

beforeEach(async () => {
  clock = new ManualClock();
  prefixes += 1;
  worker = new WorkerAtStore({ store: bridge(), clock });
  await worker.register();
  running = await worker.run(lane);
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});

/** One more bridge of the same Redis. */
function bridge(): RedisStore {
  const store = new RedisStore({
    address: { url: server.url },
    prefix: `restarted-${prefixes}`,
    times: { bridgeSilentMs: 1e9 },
    simulatedTime: clock,
  });
  open.push(store);
  return store;
}

function request(requestId: string): NewDurableRequest {
  return {
    requestId,
    fingerprint: 'ab'.repeat(32),
    queueWaitMs,
    call: worker.newCall(lane, { pool: 'file' }),
  };
}

async function submit(store: RedisStore, asked: NewDurableRequest): Promise<DurableView> {
  const reply = await onceReached(() => store.durable.submit(asked));
  if (!reply.ok) throw new Error(reply.error.code);
  return reply.view;
}

async function standing(store: RedisStore, requestId: string): Promise<DurableView['stands'] | undefined> {
  return (await onceReached(() => store.durable.view('ann', requestId)))?.stands;
}

async function restart(): Promise<void> {
  await server.kill();
  await server.run();
}

describe('a durable request that is in the queue while Redis is started anew', () => {
  beforeEach(async () => {
    await submit(bridge(), request('before'));
    await restart();
  });

  it('may have run, whichever bridge finds that its deadline is over', async () => {
    const store = bridge();
    clock.advance(queueWaitMs);
    expect(await standing(store, 'before')).toMatchObject(unknown);
    expect(await standing(bridge(), 'before')).toMatchObject(unknown);
  });

  it('may have run, also where Redis was started anew once more since', async () => {
    await submit(bridge(), request('in-between'));
    await restart();
    clock.advance(queueWaitMs);
    expect(await standing(bridge(), 'before')).toMatchObject(unknown);
  });

  it('may have run where it is taken back', async () => {
    const view = await onceReached(() => bridge().durable.cancel('ann', 'before'));
    expect(view?.stands).toMatchObject(unknown);
  });

  it('is counted as interrupted, once', async () => {
    const losses: Loss[] = [];
    for (const each of open) each.onLoss((loss) => losses.push(loss));
    clock.advance(queueWaitMs);
    for (const each of open) await standing(each, 'before');
    const ofRequest = losses.filter(({ operation }) => operation === 'read_file');
    expect(ofRequest).toEqual([{ how: 'interrupted', operation: 'read_file' }]);
  });

  it('runs as ever where its turn comes', async () => {
    const store = bridge();
    await onceReached(() => worker.settle(running));
    expect(await standing(store, 'before')).toEqual({ state: 'reserved' });
  });
});

describe('a durable request that comes after Redis was started anew', () => {
  it('may be one that was forgotten and is sent again, so that it may have run', async () => {
    await restart();
    await submit(bridge(), request('again'));
    clock.advance(queueWaitMs);
    expect(await standing(bridge(), 'again')).toMatchObject(unknown);
  });

  it('never ran where it comes a minute later', async () => {
    await restart();
    await submit(bridge(), request('again'));
    clock.advance(60_000);
    await submit(bridge(), request('later'));
    clock.advance(queueWaitMs);
    expect(await standing(bridge(), 'later')).toMatchObject(neverRan);
  });
});

it('never ran where it had left the queue before Redis was started anew', async () => {
  const store = bridge();
  await submit(store, request('over'));
  clock.advance(queueWaitMs);
  expect(await standing(store, 'over')).toMatchObject(neverRan);
  await restart();
  expect(await standing(bridge(), 'over')).toMatchObject(neverRan);
});

it('may have run where Redis does not say whether it was started anew', async () => {
  const store = bridge();
  await submit(store, request('request'));
  const stands = await server.ask(async (client) => {
    await client.call('ACL', 'SETUSER', 'default', '-info');
    clock.advance(queueWaitMs);
    const told = await standing(store, 'request');
    await client.call('ACL', 'SETUSER', 'default', '+info');
    return told;
  });
  expect(stands).toMatchObject(unknown);
});
