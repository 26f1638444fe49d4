import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DurableView, NewDurableRequest } from '../../durable-requests.js';
import { ManualClock } from '../../manual-clock.js';
import { RedisStore } from '../../redis-store.js';
import type { Loss } from '../../store.js';
import { defaultSchedulerSettings, type SchedulerSettings } from '../../scheduler-settings.js';
import { RedisServer } from '../../testing/redis-server.js';
import { done, idOf, WorkerAtStore, type CallTerms } from '../../testing/worker-at-store.js';
import { RequestWhereabouts } from './request-whereabouts.js';

const a = ['primary', 'worktree:a'] as const;
const root = ['primary'] as const;
const hour = 3_600_000;

let server: RedisServer;
let clock: ManualClock;
let worker: WorkerAtStore;
let prefixes = 0;
let open: RedisStore[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(async () => {
  await server.stop();
});

beforeEach(async () => {
  clock = new ManualClock();
  prefixes += 1;
  worker = new WorkerAtStore({ store: replica(), clock });
  await worker.register();
});

afterEach(async () => {
  await Promise.all(open.map((store) => store.close()));
  open = [];
});

/** One more bridge of the same Redis. */
function replica(settings: Partial<SchedulerSettings> = {}): RedisStore {
  const store = new RedisStore({
    address: { url: server.url },
    prefix: `durable-${prefixes}`,
    settings: { ...defaultSchedulerSettings, ...settings },
    times: { bridgeSilentMs: 4_500 },
    simulatedTime: clock,
  });
  open.push(store);
  return store;
}

function request(
  requestId: string,
  { lane = a, ...terms }: CallTerms & { readonly lane?: typeof a | typeof root } = {},
  changes: Partial<NewDurableRequest> = {},
): NewDurableRequest {
  const call = worker.newCall(lane, terms);
  return { requestId, fingerprint: 'ab'.repeat(32), queueWaitMs: 30_000, call, ...changes };
}

async function submit(store: RedisStore, asked: NewDurableRequest): Promise<DurableView> {
  const reply = await store.durable.submit(asked);
  if (!reply.ok) throw new Error(reply.error.code);
  return reply.view;
}

describe('a durable request', () => {
  it('is taken in once: repeated at any bridge it tells how the first one stands', async () => {
    const [one, other] = [replica(), replica()];
    const first = await submit(one, request('request-1'));
    expect(first).toMatchObject({
      requestId: 'request-1',
      workerId: 'worker',
      stands: { state: 'reserved' },
    });
    const again = await submit(other, request('request-1'));
    expect(again.callId).toBe(first.callId);
    expect((await worker.fetch()).calls).toEqual([first.callId]);
    expect((await submit(one, request('request-1'))).stands).toEqual({ state: 'delivered' });
  });

  it('is a conflict with other work under the same id, and with none of another principal', async () => {
    const store = replica();
    await submit(store, request('request-1'));
    const otherWork = request('request-1', {}, { fingerprint: 'cd'.repeat(32) });
    expect(await store.durable.submit(otherWork)).toMatchObject({ error: { code: 'REQUEST_CONFLICT' } });
    const call = { ...worker.newCall(a), workerId: 'elsewhere' };
    const otherWorker = { ...request('request-1'), call };
    expect(await store.durable.submit(otherWorker)).toMatchObject({ error: { code: 'REQUEST_CONFLICT' } });
    const bob = await submit(store, request('request-1', { principal: 'bob' }));
    expect(bob.stands.state).toBe('waiting');
    expect(await store.durable.view('carol', 'request-1')).toBeUndefined();
  });

  it('tells since when it waits, its place and what for, and of others only lane and age', async () => {
    const running = await worker.run(a, { principal: 'bob' });
    const store = replica();
    await submit(store, request('request-1', { lane: root }));
    clock.advance(700);
    const view = await store.durable.view('ann', 'request-1');
    expect(view?.stands).toEqual({
      state: 'waiting',
      sinceMs: 700,
      waiting: { position: 1, blockers: [{ lane: a, ageMs: 700, state: 'running' }] },
    });
    expect(JSON.stringify(view)).not.toContain(running);
  });

  it('outlives the bridge that took it in: it waits on, runs, and any bridge has the result', async () => {
    const blocker = await worker.run(a);
    const doomed = replica();
    const synchronous = worker.newCall(root);
    await doomed.submit(synchronous);
    await submit(doomed, request('request-1', { lane: root }, { queueWaitMs: 60_000 }));
    await doomed.close();
    clock.advance(6_000);
    const store = replica();
    expect((await store.call(synchronous.callId))?.view.state).toBe('withdrawn');
    expect((await store.durable.view('ann', 'request-1'))?.stands.state).toBe('waiting');
    await worker.settle(blocker);
    const [callId = ''] = (await worker.fetch()).calls;
    await worker.report('started', callId);
    expect((await store.durable.view('ann', 'request-1'))?.stands).toEqual({ state: 'running' });
    await worker.settle(callId);
    const ended = { state: 'ended', end: { how: 'settled', settlement: done, cancelled: false } };
    expect((await replica().durable.view('ann', 'request-1'))?.stands).toEqual(ended);
  });

  it('leaves the queue at its deadline whichever bridge lives, also after it came back to its place', async () => {
    const store = replica();
    const view = await submit(store, request('request-1', {}, { queueWaitMs: 10_000 }));
    await worker.fetch();
    clock.advance(9_000);
    await worker.report('busy', view.callId);
    expect((await store.durable.view('ann', 'request-1'))?.stands.state).toBe('waiting');
    await store.close();
    clock.advance(1_000);
    const ended = { state: 'ended', end: { how: 'withdrawn', why: 'deadline' } };
    expect((await replica().durable.view('ann', 'request-1'))?.stands).toMatchObject(ended);
    // No place is kept for a retry, as its caller asks by the same id.
    const next = await submit(replica(), request('request-2', {}, { fingerprint: 'cd'.repeat(32) }));
    expect(next.stands).toEqual({ state: 'reserved' });
  });

  it('tells after its deadline what it waited for, whoever kept the deadline, and of others only lane and age', async () => {
    const running = await worker.run(a, { principal: 'bob' });
    const store = replica();
    await submit(store, request('request-1', { lane: root }, { queueWaitMs: 10_000 }));
    await store.close();
    clock.advance(12_000);
    const view = await replica().durable.view('ann', 'request-1');
    expect(view?.stands).toEqual({
      state: 'ended',
      end: {
        how: 'withdrawn',
        why: 'deadline',
        waited: {
          waitedMs: 10_000,
          waitedFor: { position: 1, blockers: [{ lane: a, ageMs: 10_000, state: 'running' }] },
        },
      },
    });
    expect(JSON.stringify(view)).not.toContain(running);
  });

  it('is not ended by its queue deadline once the worker has it', async () => {
    const view = await submit(replica(), request('request-1', {}, { queueWaitMs: 1_000 }));
    await worker.fetch();
    await worker.report('started', view.callId);
    clock.advance(2_000);
    expect((await replica().durable.view('ann', 'request-1'))?.stands).toEqual({ state: 'running' });
  });

  it('waits for a worker that is away, and is interrupted where the worker that ran it comes back no more', async () => {
    clock.advance(40_000);
    const store = replica();
    const view = await submit(store, request('request-1', {}, { queueWaitMs: 60_000 }));
    expect((await store.durable.view('ann', 'request-1'))?.stands.state).toMatch(/waiting|reserved/);
    await worker.restart();
    await worker.fetch();
    await worker.report('started', view.callId);
    clock.advance(30_000);
    expect((await store.durable.view('ann', 'request-1'))?.stands).toMatchObject({
      state: 'ended',
      end: { how: 'interrupted' },
    });
  });

  it('is cancelled at any bridge: a waiting one never runs, of a running one the worker has the last word', async () => {
    const store = replica();
    const running = await submit(store, request('request-1'));
    await worker.fetch();
    await worker.report('started', running.callId);
    await submit(store, request('request-2', {}, { fingerprint: 'cd'.repeat(32) }));
    expect((await replica().durable.cancel('ann', 'request-2'))?.stands).toEqual({
      state: 'ended',
      end: { how: 'withdrawn', why: 'cancelled' },
    });
    expect((await replica().durable.cancel('ann', 'request-1'))?.stands).toEqual({ state: 'cancelling' });
    expect((await worker.fetch()).cancellations).toEqual([running.callId]);
    await worker.settle(running.callId);
    expect((await store.durable.cancel('ann', 'request-1'))?.stands).toMatchObject({
      state: 'ended',
      end: { how: 'settled', cancelled: true },
    });
    expect(await store.durable.cancel('bob', 'request-1')).toBeUndefined();
  });

  it('is told of as a loss once, at the bridge that did what was due, where it waited too long or was interrupted', async () => {
    const [one, other] = [replica(), replica()];
    const losses: (readonly [string, Loss])[] = [];
    one.onLoss((loss) => losses.push(['one', loss]));
    other.onLoss((loss) => losses.push(['other', loss]));
    const runs = await submit(one, request('request-1', {}, { queueWaitMs: 40_000 }));
    await worker.fetch();
    await worker.report('started', runs.callId);
    await submit(one, request('request-2', {}, { queueWaitMs: 10_000 }));
    await one.close();
    clock.advance(10_000);
    await other.durable.view('ann', 'request-2');
    clock.advance(20_000);
    await other.durable.view('ann', 'request-1');
    await other.durable.view('ann', 'request-1');
    const operation = 'execute_command';
    expect(losses).toEqual([
      ['other', { how: 'queue_timeout', operation }],
      ['other', { how: 'interrupted', operation }],
    ]);
  });

  it('is kept for 24 hours after it ended, and not longer', async () => {
    const store = replica();
    const view = await submit(store, request('request-1'));
    await worker.fetch();
    await worker.settle(view.callId);
    clock.advance(24 * hour - 1);
    const kept = await store.durable.view('ann', 'request-1');
    expect(kept).toMatchObject({ stands: { state: 'ended' }, request: { operation: 'execute_command' } });
    clock.advance(1);
    expect(await store.durable.view('ann', 'request-1')).toBeUndefined();
  });

  it('counts against the share of its principal, and leaves no key without an end to its life', async () => {
    const store = replica({ principalQueueLength: 2 });
    await worker.run(a);
    for (const id of ['request-1', 'request-2']) await submit(store, request(id));
    expect(await store.durable.submit(request('request-3'))).toMatchObject({
      error: { code: 'WORKER_QUEUE_FULL' },
    });
    const lives = await server.ask(async (client) => {
      const keys = await client.keys(`durable-${prefixes}:*`);
      return Promise.all(keys.map(async (key) => [key, await client.pttl(key)] as const));
    });
    const withoutEnd = lives.filter(([, ms]) => ms < 0).map(([key]) => key);
    expect(withoutEnd).toEqual([`durable-${prefixes}:layout`]);
    const ofWorker = lives.filter(([key]) => key.includes('{worker}'));
    for (const [, ms] of ofWorker) expect(ms).toBeGreaterThan(24 * hour);
  });

  it('is kept for as long as it may take, also where one with a shorter life comes after it', async () => {
    const store = replica();
    await worker.run(a);
    const lives = () =>
      server.ask(async (client) => ({
        requests: Math.max(
          ...(await Promise.all(
            (await client.keys(`durable-${prefixes}:*requests*`)).map((key) => client.pttl(key)),
          )),
        ),
        worker: await client.pttl(`durable-${prefixes}:{worker}`),
      }));
    await submit(store, request('long', {}, { queueWaitMs: 48 * hour }));
    await submit(store, request('short', {}, { queueWaitMs: 1_000 }));
    const { requests, worker: ofWorker } = await lives();
    expect(requests).toBeGreaterThan(72 * hour);
    expect(ofWorker).toBeGreaterThan(72 * hour);
  });

  it('keeps its name for as long as it is kept, and a refused one lets go of it within a minute', async () => {
    const store = replica({ principalQueueLength: 1 });
    await worker.run(a);
    await submit(store, request('taken-in'));
    expect(await store.durable.submit(request('refused'))).toMatchObject({
      error: { code: 'WORKER_QUEUE_FULL' },
    });
    const livesOf = (id: string) =>
      server.ask((client) => client.pttl(`durable-${prefixes}:request:{ann:${id}}`));
    expect(await livesOf('taken-in')).toBeGreaterThan(24 * hour);
    const refusedLives = await livesOf('refused');
    expect(refusedLives).toBeGreaterThan(0);
    expect(refusedLives).toBeLessThanOrEqual(60_000);
  });

  it('keeps its name where another bridge took it in while this one refused it', async () => {
    const store = replica({ principalQueueLength: 1 });
    await worker.run(a);
    await submit(store, request('taken-in'));
    const name = `durable-${prefixes}:request:{ann:twice}`;
    const letsGo = vi.spyOn(RequestWhereabouts.prototype, 'letGo').mockImplementationOnce(async () => {
      await submit(replica(), request('twice'));
      await server.ask((client) => client.pexpire(name, 60_000));
    });
    expect(await store.durable.submit(request('twice'))).toMatchObject({
      error: { code: 'WORKER_QUEUE_FULL' },
    });
    expect(letsGo).toHaveBeenCalledOnce();
    letsGo.mockRestore();
    expect(await server.ask((client) => client.pttl(name))).toBeGreaterThan(24 * hour);
  });

  it(
    'gives way to newer ones, from the oldest that has ended on, where too many are kept',
    { timeout: 240_000 },
    async () => {
      const store = replica();
      const endOne = async (id: string) => {
        clock.advance(1);
        const view = await submit(store, request(id, { lane: a }));
        await worker.fetch();
        await worker.settle(view.callId);
      };
      for (let made = 0; made < 1_000; made += 1) await endOne(`request-${made}`);
      expect(await store.durable.view('ann', 'request-0')).toBeDefined();
      await endOne('one-more');
      expect(await store.durable.view('ann', 'request-0')).toBeUndefined();
      expect(await store.durable.view('ann', 'request-999')).toBeDefined();
      expect(await store.durable.view('ann', 'one-more')).toBeDefined();
    },
  );
});

it('refuses a durable request of a worker that nobody knows', async () => {
  const call = { ...worker.newCall(a), callId: idOf(7), workerId: 'nobody' };
  const asked = { ...request('request-1'), call };
  expect(await replica().durable.submit(asked)).toMatchObject({ error: { code: 'WORKER_OFFLINE' } });
});
