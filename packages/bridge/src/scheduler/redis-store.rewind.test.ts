import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { RedisStore, type RedisStoreOptions } from './redis-store.js';
import { defaultSchedulerSettings } from './scheduler-settings.js';
import type { RedisAddress } from './redis/connections.js';
import { onceReached } from './testing/once-reached.js';
import { RedisCluster } from './testing/redis-cluster.js';
import { RedisServer } from './testing/redis-server.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;

interface Deployment {
  readonly address: RedisAddress;
  /** The process that has a key. */
  readonly serverOf: (key: string) => Promise<RedisServer>;
  readonly untilServing: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

async function oneRedis(): Promise<Deployment> {
  const server = await RedisServer.start({ appendOnly: true });
  return {
    address: { url: server.url },
    serverOf: () => Promise.resolve(server),
    untilServing: () => Promise.resolve(),
    stop: () => server.stop(),
  };
}

async function redisCluster(): Promise<Deployment> {
  return clusterAs(await RedisCluster.start({ appendOnly: true }));
}

function clusterAs(cluster: RedisCluster): Deployment {
  return {
    address: { clusterUrls: cluster.urls },
    serverOf: (key) => cluster.serverOf(key),
    untilServing: () => cluster.untilServing(),
    stop: () => cluster.stop(),
  };
}

let deployment: Deployment;
let prefix: string;
const open: RedisStore[] = [];

beforeEach(() => {
  prefix = `rewind-${randomBytes(4).toString('hex')}`;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});

/** The process that has the keys of the worker. */
function serverOfWorker(): Promise<RedisServer> {
  return deployment.serverOf(`${prefix}:{worker}`);
}

/** Longer than any test takes: nothing ends by its time while Redis comes back, however long that takes. */
const patience = 600_000;

function bridge(options: Pick<RedisStoreOptions, 'times' | 'simulatedTime'> = {}): RedisStore {
  const settings = { ...defaultSchedulerSettings, leaseTtlMs: patience };
  const times = { bridgeSilentMs: patience };
  const store = new RedisStore({ address: deployment.address, prefix, settings, times, ...options });
  open.push(store);
  return store;
}

async function workerAt(store: RedisStore, clock = new ManualClock()): Promise<WorkerAtStore> {
  const worker = new WorkerAtStore({ store, clock });
  await worker.register();
  return worker;
}

/** Redis comes back as it was before something that it had confirmed. */
async function forgetting(confirmed: () => Promise<unknown>): Promise<void> {
  const server = await serverOfWorker();
  const restore = await server.copy();
  await confirmed();
  await server.kill();
  await restore();
  await server.run();
  await deployment.untilServing();
}

/** News come in their order: who hears of a later call has heard of every earlier one. */
async function heardAllOf(store: RedisStore, worker: WorkerAtStore): Promise<void> {
  const later = worker.newCall(b);
  await store.submit(later);
  const heard = new Promise<void>((resolve) => store.onCall(later.callId, resolve));
  await store.cancel(later.callId);
  await heard;
}

describe.each([
  { where: 'one Redis', start: oneRedis },
  { where: 'a Redis Cluster', start: redisCluster },
])('on $where', ({ start }) => {
  beforeAll(async () => {
    deployment = await start();
  }, 120_000);
  afterAll(async () => {
    await deployment.stop();
  });

  describe('a Redis that has lost its last seconds', () => {
    it('hands nothing over that had left the queue at another bridge, whose caller was told that it never ran', async () => {
      const [one, other] = [bridge(), bridge()];
      const worker = await workerAt(one);
      const runs = await worker.run(a);
      const [first, second, third] = [worker.newCall(a), worker.newCall(a), worker.newCall(b)];
      await other.submit(first);
      await other.submit(second);
      await forgetting(async () => {
        expect(await other.withdraw(first.callId, 'deadline')).toMatchObject({ withdrawn: true });
        expect(await other.cancel(second.callId)).toBe('withdrawn');
      });
      await onceReached(() => worker.settle(runs));
      await onceReached(() => other.submit(third));
      expect((await worker.fetch()).calls).toEqual([third.callId]);
      for (const { callId } of [first, second])
        expect(await one.end(callId)).toMatchObject({ how: 'withdrawn' });
    });

    it('gives back what was fetched from it before the other bridge could say so', async () => {
      const [one, other] = [bridge(), bridge()];
      const worker = await workerAt(one);
      const [gone, stays] = [worker.newCall(a), worker.newCall(b)];
      await other.submit(gone);
      await other.submit(stays);
      const server = await serverOfWorker();
      const restore = await server.copy();
      expect(await other.cancel(gone.callId)).toBe('withdrawn');
      await server.kill();
      // Asked while Redis is away, so that it is the first that Redis is asked when it is back.
      const fetched = onceReached(() => worker.fetch());
      await restore();
      await server.run();
      expect((await fetched).calls).toEqual([stays.callId]);
    });
  });

  describe('a call that had been handed over in the seconds that were lost', () => {
    it('is not said to have never run, although it waits again and then leaves the queue', async () => {
      const store = bridge();
      const worker = await workerAt(store);
      const runs = await worker.run(a);
      const waits = worker.newCall(a);
      await store.submit(waits);
      await forgetting(async () => {
        await worker.settle(runs);
        await worker.fetch();
        await heardAllOf(store, worker);
      });
      expect(await onceReached(() => worker.stateOf(waits.callId))).toBe('waiting');
      const left = await store.withdraw(waits.callId, 'deadline');
      expect(left).toEqual({ withdrawn: false, state: 'interrupted' });
      expect(await store.end(waits.callId)).toMatchObject({ how: 'interrupted' });
    });

    it.each<[string, (store: RedisStore, callId: string, clock: ManualClock) => Promise<unknown>]>([
      ['by its deadline', (store, callId) => store.withdraw(callId, 'deadline')],
      ['as it is cancelled', (store, callId) => store.cancel(callId)],
      [
        'as its bridge is silent',
        (store, _, clock) => {
          clock.advance(patience);
          return store.lanes('worker');
        },
      ],
    ])('nor where it leaves %s and nobody there had heard of it', async (_, leave) => {
      const clock = new ManualClock();
      const store = bridge({ simulatedTime: clock });
      const worker = await workerAt(store, clock);
      const runs = await worker.run(a);
      const waits = worker.newCall(a);
      await store.submit(waits);
      await forgetting(async () => {
        await worker.settle(runs);
        expect((await worker.fetch()).calls).toEqual([waits.callId]);
        await store.close();
      });
      const deaf = bridge({ simulatedTime: clock });
      await onceReached(() => deaf.lanes(worker.workerId));
      await leave(deaf, waits.callId, clock);
      expect(await deaf.end(waits.callId)).toMatchObject({ how: 'interrupted' });
    });

    it('nor is that said of a durable request, by no bridge, also if it had never heard of its worker', async () => {
      const clock = new ManualClock();
      const [store, other] = [bridge({ simulatedTime: clock }), bridge({ simulatedTime: clock })];
      const worker = await workerAt(store, clock);
      const runs = await worker.run(a);
      const call = worker.newCall(a);
      const asked = { requestId: 'request-1', fingerprint: 'ab'.repeat(32), queueWaitMs: 10_000, call };
      await store.durable.submit(asked);
      await forgetting(async () => {
        await worker.settle(runs);
        expect((await worker.fetch()).calls).toEqual([call.callId]);
        await heardAllOf(store, worker);
      });
      clock.advance(10_000);
      const unknown = { state: 'ended', end: { how: 'interrupted' } };
      for (const each of [other, store]) {
        const view = await onceReached(() => each.durable.view(call.principal, 'request-1'));
        expect(view?.stands).toMatchObject(unknown);
      }
      expect(await store.durable.submit(asked)).toMatchObject({ view: { stands: unknown } });
    });
  });

  it('counts a call as one that never ran which comes a while after an idle worker has asked a new Redis for work', async () => {
    const simulatedTime = new ManualClock();
    const worker = await workerAt(bridge({ simulatedTime }), simulatedTime);
    await forgetting(() => Promise.resolve());
    const moved = worker.at(bridge({ simulatedTime }));
    expect((await onceReached(() => moved.fetch())).calls).toEqual([]);
    simulatedTime.advance(20_000);
    await moved.run(a);
    const waits = await moved.submit(a);
    expect(await moved.store.withdraw(waits, 'deadline')).toMatchObject({ withdrawn: true });
  });

  describe('a script that had gone on in the seconds that were lost', () => {
    it('has lost its lease with them, and is paused again, until its worker says that it is not', async () => {
      const store = bridge();
      const worker = await workerAt(store);
      const script = await worker.pausedScript(a);
      await forgetting(async () => {
        expect(await worker.resume(script)).toBe('resumed');
        await worker.fetch();
        await worker.report('started', script);
        await heardAllOf(store, worker);
      });
      const renewed = await onceReached(() => worker.renew(script));
      expect(renewed.lost).toEqual([script]);
      expect(await worker.stateOf(script)).toBe('paused');
      await worker.resolve('interrupted', script);
      expect(await store.end(script)).toMatchObject({ how: 'interrupted' });
    });
  });
});

describe('a replica of a Redis Cluster that takes over without the last seconds', () => {
  it.each([
    { node: 'goes on as its replica', goesOn: true },
    { node: 'stands still for good', goesOn: false },
  ])(
    'has nobody told of a call that it never ran, where the node before had handed it over and $node',
    async ({ goesOn }) => {
      const cluster = await RedisCluster.start();
      deployment = clusterAs(cluster);
      try {
        const old = await serverOfWorker();
        // Known to the bridge from its start on, so that nothing but who has the keys is new when it takes over.
        const replica = await cluster.addReplicaOf(old);
        const store = bridge();
        const worker = await workerAt(store);
        const runs = await worker.run(a);
        const waits = await worker.submit(a);
        await cluster.cutOff(replica, old);
        await worker.settle(runs);
        expect((await worker.fetch()).calls).toEqual([waits]);
        await heardAllOf(store, worker);
        // No connection to it is lost.
        old.signal('SIGSTOP');
        await cluster.takeOver(replica);
        if (goesOn) {
          old.signal('SIGCONT');
          await cluster.untilReplica(old);
        }
        const left = await onceReached(() => store.withdraw(waits, 'deadline'));
        expect(left).toEqual({ withdrawn: false, state: 'interrupted' });
      } finally {
        await Promise.all(open.splice(0).map((store) => store.close()));
        await cluster.stop();
      }
    },
    120_000,
  );

  it('hands nothing over that had left the queue, and starts nothing twice', async () => {
    const cluster = await RedisCluster.start();
    deployment = clusterAs(cluster);
    try {
      const old = await serverOfWorker();
      // What Redis holds has the same name from here on, which a first replica changes.
      const replica = await cluster.addReplicaOf(old);
      const store = bridge();
      const worker = await workerAt(store);
      const runs = await worker.run(a);
      const [gone, stays] = [await worker.submit(a), await worker.submit(b, { pool: 'file' })];
      await cluster.cutOff(replica, old);
      expect(await store.withdraw(gone, 'deadline')).toMatchObject({ withdrawn: true });
      await old.kill();
      await cluster.takeOver(replica);
      expect(await onceReached(() => worker.settle(runs))).toBe(true);
      expect((await onceReached(() => worker.fetch())).calls).toEqual([stays]);
      expect(await replica.ask((client) => client.info('replication'))).toContain('role:master');
      expect(await onceReached(() => store.end(gone))).toMatchObject({ how: 'withdrawn' });
    } finally {
      await Promise.all(open.splice(0).map((store) => store.close()));
      await cluster.stop();
    }
  }, 120_000);
});

describe('a bridge whose Redis was away', () => {
  beforeAll(async () => {
    deployment = await oneRedis();
  });
  afterAll(async () => {
    await deployment.stop();
  });

  it('says at once that it lives, so that what it has in the queue stays', async () => {
    const [bridgeSilentMs, clock] = [6_000, new ManualClock()];
    const store = bridge({ times: { bridgeSilentMs }, simulatedTime: clock });
    const worker = await workerAt(store, clock);
    await worker.run(a);
    const waits = worker.newCall(a);
    await store.submit(waits);
    const server = await serverOfWorker();
    await server.kill();
    clock.advance(0.9 * bridgeSilentMs);
    // By now it has failed to say that it lives, and would say so next when it counts as dead already.
    await expect(store.ready()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await server.run();
    await onceReached(() => store.workers());
    for (let asked = 0; asked < 20; asked += 1) await store.workers();
    clock.advance(0.3 * bridgeSilentMs);
    expect(await worker.stateOf(waits.callId)).toBe('waiting');
  });
});
