import { randomBytes } from 'node:crypto';
import { setImmediate as afterThisTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { RedisStore } from './redis-store.js';
import { defaultSchedulerSettings } from './scheduler-settings.js';
import { Entrance } from './testing/entrance.js';
import { onceReached } from './testing/once-reached.js';
import { RedisServer } from './testing/redis-server.js';
import { done, WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const root = ['primary'] as const;
/** For how long a bridge on a clock of the test may be silent. */
const bridgeSilentMs = 4_000;
/** Longer than any test takes, however busy this machine is. */
const patience = 600_000;
/** How long is waited for what has to come. */
const waitMs = 40_000;

describe('bridges that share a Redis', () => {
  let server: RedisServer;
  let prefix: string;
  const open: RedisStore[] = [];

  /** In real time; unless told otherwise one that is never taken for dead, and whose workers are not either. */
  function bridge(address = { url: server.url }, times = { bridgeSilentMs: patience }): RedisStore {
    const settings = { ...defaultSchedulerSettings, leaseTtlMs: patience };
    const store = new RedisStore({ address, prefix, settings, times });
    open.push(store);
    return store;
  }

  /** Two bridges of one clock, which stands still until the test moves it. */
  function bridgesOn(clock: ManualClock): readonly [dying: RedisStore, staying: RedisStore] {
    const address = { url: server.url };
    const start = () => new RedisStore({ address, prefix, times: { bridgeSilentMs }, simulatedTime: clock });
    const both = [start(), start()] as const;
    open.push(...both);
    return both;
  }

  /** Lets time go by in steps, in which a bridge that lives says so. */
  async function pass(clock: ManualClock, ms: number, alive: RedisStore): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      clock.advance(500);
      // Answered after everything that was asked before, and moves nothing itself.
      await alive.workers();
      await afterThisTurn();
    }
  }

  async function workerAt(store: RedisStore, clock = new ManualClock()): Promise<WorkerAtStore> {
    const worker = new WorkerAtStore({ store, clock });
    await worker.register();
    return worker;
  }

  function killConnections(type: 'normal' | 'pubsub'): Promise<unknown> {
    return server.ask((client) => client.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes'));
  }

  beforeAll(async () => {
    server = await RedisServer.start({ appendOnly: true });
  });
  afterAll(async () => {
    await server.stop();
  });
  beforeEach(() => {
    prefix = `faults-${randomBytes(4).toString('hex')}`;
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()));
  });

  describe('one of which dies', () => {
    it('lose what it had in the queue, which then blocks nobody', async () => {
      const [dying, staying] = [bridge(undefined, { bridgeSilentMs: 400 }), bridge()];
      const worker = await workerAt(staying);
      await worker.run(a);
      const checkout = worker.newCall(root);
      expect(await dying.submit(checkout)).toMatchObject({ state: 'waiting' });
      await dying.close();
      const rings: unknown[] = [];
      staying.onWorker('worker', () => rings.push('ring'));
      const behind = await worker.submit(b);
      // Nobody asks for anything meanwhile: the bridge that stays finds it out by itself.
      await vi.waitFor(() => {
        expect(rings).not.toEqual([]);
      }, waitMs);
      expect((await worker.fetch()).calls).toEqual([behind]);
      expect(await staying.end(checkout.callId)).toEqual({ how: 'withdrawn', why: 'caller_gone' });
    });

    it('lose what it had reserved when its silence has lasted long enough, not later for what came back', async () => {
      const clock = new ManualClock();
      const [dying, staying] = bridgesOn(clock);
      const worker = await workerAt(staying, clock);
      const checkout = worker.newCall(root);
      expect(await dying.submit(checkout)).toMatchObject({ state: 'reserved' });
      await dying.close();
      const behind = await worker.submit(b);
      clock.advance(bridgeSilentMs - 1);
      expect(await worker.stateOf(checkout.callId)).toBe('waiting');
      clock.advance(1);
      expect(await worker.stateOf(checkout.callId)).toBe('withdrawn');
      expect((await worker.fetch()).calls).toEqual([behind]);
    });

    it('keep the setup that waits in it, which no bridge asked for', async () => {
      const clock = new ManualClock();
      const [dying, staying] = bridgesOn(clock);
      const worker = await workerAt(dying, clock);
      const running = await worker.run(root);
      const setup = await worker.unready(a);
      await dying.close();
      clock.advance(3 * bridgeSilentMs);
      const moved = worker.at(staying);
      expect(await staying.settle(worker.fence, worker.lease(running), done)).toMatchObject({
        accepted: true,
      });
      expect((await moved.fetch()).calls).toEqual([setup]);
      expect(await staying.cancel(setup)).toBe('cancelling');
    });

    it('keep the script that is paused or waits to go on, which any of them can see through', async () => {
      const clock = new ManualClock();
      const [dying, staying] = bridgesOn(clock);
      const worker = await workerAt(staying, clock);
      const call = worker.newScript(a);
      await dying.submit(call);
      await worker.fetch();
      const tool = worker.newCall(a);
      await worker.pause(call.callId);
      await staying.submit(tool);
      await worker.fetch();
      expect(await dying.paused(call.callId)).toMatchObject({ workerId: 'worker' });
      expect(await dying.resume(call.callId, [{ callId: 'call_1', result: 1 }])).toBe('resumed');
      await dying.close();
      clock.advance(3 * bridgeSilentMs);
      const changes: unknown[] = [];
      staying.onCall(call.callId, () => changes.push('change'));
      await worker.settle(tool.callId);
      expect((await worker.fetch()).calls).toEqual([call.callId]);
      await vi.waitFor(() => {
        expect(changes).not.toEqual([]);
      }, waitMs);
      await worker.pause(call.callId);
      expect(await staying.paused(call.callId)).toMatchObject({ toolCalls: [{ id: 'call_1' }] });
    });

    it('keep what ran, and can read its result', async () => {
      const clock = new ManualClock();
      const [dying, staying] = bridgesOn(clock);
      const worker = await workerAt(staying, clock);
      const call = worker.newCall(a);
      await dying.submit(call);
      await worker.fetch();
      await dying.close();
      clock.advance(2 * bridgeSilentMs);
      expect(await worker.stateOf(call.callId)).toBe('delivered');
      expect(await worker.settle(call.callId)).toBe(true);
      expect(await staying.end(call.callId)).toMatchObject({ how: 'settled' });
    });

    it('lose nothing of a bridge that lives', async () => {
      const clock = new ManualClock();
      const [living] = bridgesOn(clock);
      const worker = await workerAt(living, clock);
      await worker.run(a);
      const waits = await worker.submit(root);
      await pass(clock, 3 * bridgeSilentMs, living);
      expect(await worker.stateOf(waits)).toBe('waiting');
    });
  });

  describe('whose Redis', () => {
    it('forgets its scripts go on', async () => {
      const worker = await workerAt(bridge());
      const callId = await worker.submit(a);
      await server.ask((client) => client.script('FLUSH'));
      expect((await worker.fetch()).calls).toEqual([callId]);
      await server.ask((client) => client.script('FLUSH'));
      expect(await worker.settle(callId)).toBe(true);
    });

    it('cuts connections again and again run every call once', async () => {
      const worker = await workerAt(bridge());
      const delivered: string[] = [];
      const submitted: string[] = [];
      for (let round = 0; round < 30; round += 1) {
        // Some cut comes before a script ran, some between it and its reply: either way it is sent again.
        const cut = killConnections('normal');
        submitted.push(await worker.submit(a));
        await cut;
        const [, { calls }] = await Promise.all([killConnections('normal'), worker.fetch()]);
        delivered.push(...calls);
        for (const callId of calls) {
          const [, settled] = await Promise.all([killConnections('normal'), worker.settle(callId)]);
          expect(settled).toBe(true);
        }
      }
      expect(delivered).toEqual(submitted);
    });

    it('cuts the connection that listens wake everybody once it is back', async () => {
      const store = bridge();
      const worker = await workerAt(store);
      const rings: unknown[] = [];
      store.onWorker('worker', () => rings.push('ring'));
      await killConnections('pubsub');
      await vi.waitFor(() => {
        expect(rings).not.toEqual([]);
      }, waitMs);
      const before = rings.length;
      await worker.submit(a);
      await vi.waitFor(() => {
        expect(rings.length).toBeGreaterThan(before);
      }, waitMs);
    });

    it.each(['worker:strange', 'worker:waiting >%ff', 'worker:waiting >'])(
      'tells "%s", which only another version may understand, look for themselves',
      async (strange) => {
        const store = bridge();
        const worker = await workerAt(store);
        const call = worker.newCall(a);
        const rings: unknown[] = [];
        const follower = store.follow(call.callId, 'worker', () => rings.push('ring'));
        await store.submit(call);
        await worker.fetch();
        await vi.waitFor(async () => {
          expect(await follower.progress()).toMatchObject({ state: 'delivered' });
        }, waitMs);
        const before = rings.length;
        const told = strange.replace('worker', call.callId);
        await server.ask((client) => client.publish(`${prefix}:{worker}:news`, ` * ${told}`));
        await vi.waitFor(() => {
          expect(rings.length).toBeGreaterThan(before);
        }, waitMs);
        expect(await follower.progress()).toMatchObject({ state: 'delivered' });
        await worker.settle(call.callId);
        await vi.waitFor(async () => {
          expect(await follower.progress()).toMatchObject({ how: 'settled' });
        }, waitMs);
      },
    );

    it('crashes and comes back with its log keep queue, leases and results', async () => {
      const worker = await workerAt(bridge());
      const ended = await worker.run(a);
      await worker.settle(ended);
      const [runs, waits] = [await worker.run(a), await worker.submit(a)];
      await server.kill();
      await server.run();
      expect(await onceReached(() => worker.store.end(ended))).toMatchObject({ how: 'settled' });
      expect((await worker.renew(runs)).lost).toEqual([]);
      expect(await worker.settle(runs)).toBe(true);
      expect((await worker.fetch()).calls).toEqual([waits]);
    });

    it('gives way to its replica go on there, also where the old one is reached for a while', async () => {
      const [old, replica] = await Promise.all([RedisServer.start(), RedisServer.start()]);
      const entrance = await Entrance.to(old.port);
      try {
        await replica.ask((client) => client.replicaof('127.0.0.1', old.port));
        const worker = await workerAt(bridge({ url: `redis://127.0.0.1:${entrance.port}` }));
        const [runs, waits] = [await worker.run(a), await worker.submit(a)];
        await vi.waitFor(async () => {
          expect(await old.ask((client) => client.wait(1, 100))).toBe(1);
        }, waitMs);
        await replica.ask((client) => client.replicaof('NO', 'ONE'));
        await old.ask((client) => client.replicaof('127.0.0.1', replica.port));
        // The connections that are open still lead to the old one, which takes no writes any more.
        entrance.leadTo(replica.port);
        expect(await onceReached(() => worker.settle(runs))).toBe(true);
        expect((await worker.fetch()).calls).toEqual([waits]);
        expect(await replica.ask((client) => client.info('replication'))).toContain('role:master');
      } finally {
        await Promise.all(open.splice(0).map((store) => store.close()));
        entrance.close();
        await Promise.all([old.stop(), replica.stop()]);
      }
    }, 120_000);

    it('cannot be reached say so, with a code that may be tried again', async () => {
      const store = bridge({ url: 'redis://127.0.0.1:1' });
      await expect(store.ready()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    });

    it('holds another layout refuse to share it', async () => {
      await server.ask((client) => client.set(`${prefix}:layout`, '3'));
      await expect(bridge().ready()).rejects.toThrow(/holds layout 3 .* speaks layout 2/);
    });

    it('holds a worker of another layout refuse to touch it', async () => {
      const worker = await workerAt(bridge());
      await server.ask((client) => client.hset(`${prefix}:{worker}`, 'layout', '7'));
      await expect(worker.submit(a)).rejects.toThrow(/holds layout 7/);
    });
  });

  it('leave nothing behind that stays for ever but the layout', async () => {
    const worker = await workerAt(bridge());
    for (let round = 0; round < 5; round += 1) {
      const [runs, waits] = [await worker.run(a), await worker.submit(root)];
      await worker.store.withdraw(waits, 'deadline');
      await worker.settle(runs);
    }
    const lasting = await server.ask(async (client) => {
      const keys = await client.keys(`${prefix}:*`);
      const lives = await Promise.all(keys.map((key) => client.pttl(key)));
      return keys.filter((_, index) => lives[index] === -1);
    });
    expect(lasting).toEqual([`${prefix}:layout`]);
  });
});
