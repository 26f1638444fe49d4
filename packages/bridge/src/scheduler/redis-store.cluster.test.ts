import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DurableView, SubmittedRequest } from './durable-requests.js';
import { ManualClock } from './manual-clock.js';
import { RedisStore } from './redis-store.js';
import { defaultSchedulerSettings } from './scheduler-settings.js';
import type { Refused } from './store.js';
import { anyCapacities } from './testing/arbitrary-calls.js';
import { onceHeard } from './testing/once-heard.js';
import { RedisCluster } from './testing/redis-cluster.js';
import { anyLife, liveThrough, settingsOfLife } from './testing/two-lives.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const root = ['primary'] as const;

/** @throws Error where the request is refused. */
async function viewOf(submitted: Promise<SubmittedRequest | Refused>): Promise<DurableView> {
  const reply = await submitted;
  if (!reply.ok) throw new Error(reply.error.code);
  return reply.view;
}

describe('the redis store on a Redis Cluster of three nodes', () => {
  let cluster: RedisCluster;
  const clock = new ManualClock();
  const open: RedisStore[] = [];
  let bridge: RedisStore;
  let lives = 0;

  function another(): RedisStore {
    const store = new RedisStore({
      address: { clusterUrls: cluster.urls },
      times: { bridgeSilentMs: 1e9 },
      simulatedTime: clock,
    });
    open.push(store);
    return store;
  }

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  }, 120_000);
  afterAll(async () => {
    await cluster.stop();
  });
  beforeEach(() => {
    bridge = another();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()));
  });

  it('spreads workers over the nodes, each with all its keys in one slot', async () => {
    const workers = Array.from({ length: 12 }, (_, index) => {
      return new WorkerAtStore({ store: bridge, clock }, `worker-${index}`);
    });
    await Promise.all(workers.map((worker) => worker.register()));
    const calls = await Promise.all(workers.map((worker) => worker.run(a)));
    const settled = await Promise.all(workers.map((worker, index) => worker.settle(calls[index] ?? '')));
    expect(settled).toEqual(workers.map(() => true));
    expect(await cluster.keyCounts()).not.toContain(0);
  });

  it('[L4] [L5] [L6] [L23] goes by the rule, through any of two bridges', async () => {
    const other = another();
    const worker = new WorkerAtStore({ store: bridge, clock }, 'ruled');
    await worker.register();
    const [inA, inB] = [await worker.submit(a), await worker.submit(b)];
    const checkout = worker.newCall(root);
    expect(await other.submit(checkout)).toEqual({ ok: true, state: 'waiting' });
    expect((await worker.fetch()).calls).toEqual([inA, inB]);
    expect((await other.call(inA))?.view.state).toBe('delivered');
    await worker.settle(inA);
    await worker.settle(inB);
    expect((await worker.fetch()).calls).toEqual([checkout.callId]);
    expect(await other.end(inA)).toMatchObject({ how: 'settled' });
    expect(await other.cancel(checkout.callId)).toBe('cancelling');
    expect((await worker.fetch()).cancellations).toEqual([checkout.callId]);
  });

  it('wakes whoever listens at another bridge', async () => {
    const other = another();
    const worker = new WorkerAtStore({ store: bridge, clock }, 'woken');
    await worker.register();
    let rings = 0;
    const ring = () => (rings += 1);
    const ringing = async <T>(act: () => Promise<T>): Promise<T> => {
      const before = rings;
      const came = await act();
      await vi.waitFor(() => {
        expect(rings).toBeGreaterThan(before);
      }, 40_000);
      return came;
    };
    other.onWorker('woken', ring);
    await onceHeard(other, worker, b);
    const callId = await ringing(() => worker.submit(a));
    await ringing(() => Promise.resolve(other.onCall(callId, ring)));
    await ringing(() => worker.fetch());
  });

  it('asks for the setup of a lane once, whichever bridge hears of it, and any of them can cancel it', async () => {
    const other = another();
    const worker = new WorkerAtStore({ store: bridge, clock }, 'unready');
    await worker.register();
    const command = await worker.submit(a);
    await worker.fetch();
    const setup = await worker.unready(a, command);
    const atOther = worker.at(other);
    expect(await atOther.unready(a)).toBe(setup);
    expect((await atOther.fetch()).calls).toEqual([setup]);
    expect(await other.cancel(setup)).toBe('cancelling');
  });

  it('lets a script that was paused at one bridge go on from another one', async () => {
    const other = another();
    const worker = new WorkerAtStore({ store: bridge, clock }, 'scripts');
    await worker.register();
    const script = await worker.pausedScript(a);
    expect(await other.paused(script)).toMatchObject({ workerId: 'scripts', toolCalls: [{ id: 'call_1' }] });
    expect(await other.resume(script, [{ callId: 'call_1', result: 'found' }])).toBe('resumed');
    expect((await worker.fetch()).calls).toEqual([script]);
  });

  it('keeps durable requests: taken in once, seen and cancelled at any bridge, and ended at their deadline', async () => {
    const other = another();
    const worker = new WorkerAtStore({ store: bridge, clock }, 'durable');
    await worker.register();
    const asked = (requestId: string, terms: { principal?: string } = {}) => ({
      requestId,
      fingerprint: 'ab'.repeat(32),
      queueWaitMs: 10_000,
      call: worker.newCall(a, terms),
    });
    const first = await viewOf(bridge.durable.submit(asked('request-1')));
    expect((await viewOf(other.durable.submit(asked('request-1')))).callId).toBe(first.callId);
    const conflict = { ...asked('request-1'), fingerprint: 'cd'.repeat(32) };
    expect(await other.durable.submit(conflict)).toMatchObject({ error: { code: 'REQUEST_CONFLICT' } });
    // Of many principals some have their names in each node.
    const principals = Array.from({ length: 12 }, (_, index) => `principal-${index}`);
    for (const principal of principals)
      await viewOf(bridge.durable.submit(asked('request-2', { principal })));
    for (const principal of principals) {
      expect((await other.durable.view(principal, 'request-2'))?.stands.state).toBe('waiting');
    }
    expect((await other.durable.cancel('principal-0', 'request-2'))?.stands).toEqual({
      state: 'ended',
      end: { how: 'withdrawn', why: 'cancelled' },
    });
    expect((await worker.fetch()).calls).toEqual([first.callId]);
    await worker.settle(first.callId);
    expect((await other.durable.view('ann', 'request-1'))?.stands).toMatchObject({
      state: 'ended',
      end: { how: 'settled' },
    });
    clock.advance(10_000);
    expect((await other.durable.view('principal-11', 'request-2'))?.stands).toMatchObject({
      state: 'ended',
      end: { how: 'withdrawn', why: 'deadline' },
    });
  });

  it('[T73] [T74] goes through any life as the reference says', async () => {
    await fc.assert(
      fc.asyncProperty(anyLife, anyCapacities, async (life, capacities) => {
        lives += 1;
        const ownClock = new ManualClock();
        const store = new RedisStore({
          address: { clusterUrls: cluster.urls },
          prefix: `life-${lives}`,
          settings: { ...defaultSchedulerSettings, ...settingsOfLife },
          times: { bridgeSilentMs: 1e9 },
          simulatedTime: ownClock,
        });
        open.push(store);
        await liveThrough({ store, clock: ownClock }, life, capacities);
      }),
      { numRuns: 3 },
    );
  }, 240_000);

  it('does what is due at its time', async () => {
    const worker = new WorkerAtStore({ store: bridge, clock }, 'due');
    await worker.register();
    const [first, second] = [await worker.run(a), await worker.submit(a)];
    clock.advance(30_000);
    expect(await worker.store.end(first)).toMatchObject({ how: 'interrupted' });
    expect((await worker.fetch()).calls).toEqual([second]);
  });
});

describe('a bridge on a Redis Cluster whose nodes are started anew one after the other', () => {
  /** Nothing at it ends by its time, however long the nodes take. */
  function another(cluster: RedisCluster): RedisStore {
    const patience = 600_000;
    return new RedisStore({
      address: { clusterUrls: cluster.urls },
      settings: { ...defaultSchedulerSettings, leaseTtlMs: patience },
      times: { bridgeSilentMs: patience },
    });
  }

  it('is woken as before, whichever of them it had listened at', async () => {
    const cluster = await RedisCluster.start({ appendOnly: true });
    const [listening, other] = [another(cluster), another(cluster)];
    try {
      const worker = new WorkerAtStore({ store: other, clock: new ManualClock() });
      await worker.register();
      const rings: string[] = [];
      listening.onWorker('worker', () => rings.push('ring'));
      for (const restart of cluster.restarts) {
        await restart();
        // Nobody is told of what happens while the subscription is made again.
        await vi.waitFor(
          async () => {
            rings.length = 0;
            await other.cancel(await worker.submit(a));
            await sleep(100);
            expect(rings).not.toEqual([]);
          },
          { timeout: 60_000, interval: 20 },
        );
      }
    } finally {
      await Promise.all([listening.close(), other.close()]);
      await cluster.stop();
    }
  }, 240_000);
});
