import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { RedisStore } from './redis-store.js';
import { onceHeard } from './testing/once-heard.js';
import { RedisServer } from './testing/redis-server.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;

describe('what happens at one bridge', () => {
  let server: RedisServer;
  let one: RedisStore;
  let other: RedisStore;
  let worker: WorkerAtStore;
  let rings: number;
  const ring = (): void => {
    rings += 1;
  };

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(async () => {
    await server.stop();
  });
  beforeEach(async () => {
    await server.ask((client) => client.flushall());
    const clock = new ManualClock();
    const bridge = () =>
      new RedisStore({
        address: { url: server.url },
        times: { bridgeSilentMs: 1e9 },
        simulatedTime: clock,
      });
    [one, other] = [bridge(), bridge()];
    worker = new WorkerAtStore({ store: one, clock });
    await worker.register();
    rings = 0;
    other.onWorker('worker', ring);
    await onceHeard(other, worker, b);
  });
  afterEach(async () => {
    await Promise.all([one.close(), other.close()]);
  });

  /** What it comes to, once it has rung at the other bridge. */
  async function ringing<T>(act: () => Promise<T>): Promise<T> {
    const before = rings;
    const came = await act();
    await expect.poll(() => rings).toBeGreaterThan(before);
    return came;
  }

  it('wakes at another one whoever polls for the worker: a submission, a settlement that lets a call start, a cancellation', async () => {
    const first = await ringing(() => worker.submit(a));
    const second = await worker.submit(a);
    await worker.fetch();
    await ringing(() => worker.settle(first));
    expect((await worker.fetch()).calls).toEqual([second]);
    await ringing(() => one.cancel(second));
    expect((await worker.at(other).fetch()).cancellations).toEqual([second]);
  });

  it('wakes at another one whoever waits for the call: at its reservation, at each step of its way, and at its end', async () => {
    const blocker = await ringing(() => worker.submit(a));
    await worker.fetch();
    const callId = await worker.submit(a);
    await ringing(() => Promise.resolve(other.onCall(callId, ring)));
    await ringing(() => worker.settle(blocker));
    await ringing(() => worker.fetch());
    await ringing(() => worker.report('started', callId));
    await ringing(() => one.cancel(callId));
    expect(await ringing(() => worker.settle(callId))).toBe(true);
  });

  it('is heard by one subscription for each worker, however many calls are waited for', async () => {
    const subscriptions = async (): Promise<number> => {
      const told = await server.ask((client) => client.info('commandstats'));
      return Number(/cmdstat_subscribe:calls=(\d+)/.exec(told)?.[1]);
    };
    const before = await subscriptions();
    expect(before).toBeGreaterThan(0);
    for (let calls = 0; calls < 50; calls += 1) {
      const { callId } = worker.newCall(a);
      other.onCall(callId, ring);
      other.follow(callId, 'worker', ring);
      other.onWorker('worker', ring);
    }
    await ringing(() => worker.submit(a));
    expect(await subscriptions()).toBe(before);
  });
});
