import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { RedisStore } from './redis-store.js';
import { defaultSchedulerSettings } from './scheduler-settings.js';
import { RedisServer } from './testing/redis-server.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const day = 86_400_000;

let server: RedisServer;
const open: RedisStore[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(async () => {
  await server.stop();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(open.splice(0).map((store) => store.close()));
});

/** A bridge of that prefix, by the clock of Redis unless time is given. */
function bridge(prefix: string, simulatedTime?: ManualClock): RedisStore {
  const store = new RedisStore({
    address: { url: server.url },
    prefix,
    // In real time no lease ends, however long the machine stands still.
    settings: { ...defaultSchedulerSettings, ...(simulatedTime === undefined && { leaseTtlMs: 600_000 }) },
    times: { bridgeSilentMs: 1e9 },
    simulatedTime,
  });
  open.push(store);
  return store;
}

/** Whatever a process can ask for the time tells that much more, or less, than is so. */
function setClocksOfBridges(byMs: number): void {
  const [date, monotonic] = [Date.now.bind(Date), performance.now.bind(performance)];
  vi.spyOn(Date, 'now').mockImplementation(() => date() + byMs);
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic() + byMs);
}

it.each([day, -day])('the clocks of bridges decide nothing: %d ms away from that of Redis', async (byMs) => {
  const prefix = randomBytes(4).toString('hex');
  const worker = new WorkerAtStore({ store: bridge(prefix), clock: new ManualClock() });
  await worker.register();
  const runs = await worker.run(a);
  setClocksOfBridges(byMs);
  const astray = bridge(prefix);
  expect(await astray.worker('worker')).toMatchObject({ online: true });
  const waits = worker.newCall(a);
  expect(await astray.submit(waits)).toEqual({ ok: true, state: 'waiting' });
  expect((await astray.call(runs))?.view.state).toBe('running');
  expect((await astray.call(waits.callId))?.view.sinceMs).toBeLessThan(day / 2);
  expect(await astray.renew(worker.fence, [worker.lease(runs)])).toMatchObject({ lost: [] });
  expect(await worker.settle(runs)).toBe(true);
  expect((await worker.fetch()).calls).toEqual([waits.callId]);
});

it('a clock of Redis that goes back is taken to stand still at the latest time that it had told', async () => {
  const prefix = randomBytes(4).toString('hex');
  const [late, early] = [new ManualClock(), new ManualClock()];
  late.advance(20_000);
  const [one, other] = [bridge(prefix, late), bridge(prefix, early)];
  const worker = new WorkerAtStore({ store: one, clock: late });
  await worker.register();
  const runs = await worker.run(a);
  expect((await other.renew(worker.fence, [worker.lease(runs)])).ok).toBe(true);
  late.advance(29_999);
  expect(await worker.stateOf(runs)).toBe('running');
  late.advance(1);
  expect(await worker.stateOf(runs)).toBe('interrupted');
});
