import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Lane } from '@codelanes/protocol';
import { ManualClock } from './manual-clock.js';
import { RedisStore } from './redis-store.js';
import type { NodeCapacity, WithdrawReason } from './store.js';
import { anyCapacities, anyClaim, anyLane, type AnyClaim } from './testing/arbitrary-calls.js';
import { ForgetfulRedis } from './testing/forgetful-redis.js';
import { JudgingWorker } from './testing/judging-worker.js';
import { RedisServer } from './testing/redis-server.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const lane = ['primary', 'worktree:a'] as const;
const ended: ReadonlySet<string> = new Set(['settled', 'withdrawn', 'interrupted']);

type Step =
  | { readonly do: 'submit'; readonly claim: AnyClaim; readonly as: 'call' | 'script' | 'durable' }
  | { readonly do: 'unready'; readonly lane: Lane }
  | { readonly do: 'withdraw'; readonly pick: number; readonly why: WithdrawReason }
  | { readonly do: 'settle' | 'pause' | 'resume' | 'cancel'; readonly pick: number }
  | { readonly do: 'fetch' | 'renew' | 'look' }
  | { readonly do: 'advance'; readonly ms: number };

const pick = fc.nat({ max: 10_000 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('submit'),
      claim: anyClaim,
      as: fc.constantFrom('call' as const, 'script' as const, 'durable' as const),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('fetch') }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('settle', 'pause', 'pause', 'resume'), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('withdraw'),
      pick,
      why: fc.constantFrom('deadline', 'caller_gone', 'cancelled'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel'), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unready'), lane: anyLane }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('renew', 'look') }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('advance'), ms: fc.constantFrom(5, 2_500, 31_000) }),
  },
);

/** Steps, those in brackets forgotten as soon as the last of them is done. */
const anyLife = fc.array(fc.oneof(anyStep, fc.array(anyStep, { minLength: 1, maxLength: 6 })), {
  minLength: 20,
  maxLength: 60,
  size: 'max',
});

let server: RedisServer;
let lives = 0;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(async () => {
  await server.stop();
});

/** A worker and its callers at a Redis that forgets its last seconds again and again. */
class ForgetfulLife {
  readonly store: RedisStore;
  readonly #redis: ForgetfulRedis;
  readonly #clock = new ManualClock();
  readonly #at: WorkerAtStore;
  readonly #worker: JudgingWorker;
  readonly #calls: string[] = [];

  constructor(capacities: readonly NodeCapacity[]) {
    lives += 1;
    const prefix = `forgetful-${lives}`;
    this.store = new RedisStore({
      address: { url: server.url },
      prefix,
      times: { bridgeSilentMs: 1e9 },
      simulatedTime: this.#clock,
    });
    this.#redis = new ForgetfulRedis(server, prefix);
    this.#at = new WorkerAtStore({ store: this.store, clock: this.#clock });
    this.#worker = new JudgingWorker(this.#at, { slots: 4, filePool: 4, capacities });
  }

  /** A registration brings to light what was forgotten. */
  async live(life: readonly (Step | readonly Step[])[]): Promise<void> {
    await this.#worker.register();
    for (const part of life) {
      if ('do' in part) await this.#take(part);
      else {
        await this.#redis.forgetting(() => this.live(part));
        await this.#worker.register();
      }
    }
  }

  async #take(step: Step): Promise<void> {
    this.#clock.advance(1);
    switch (step.do) {
      case 'submit':
        await this.#submit(step.claim, step.as);
        break;
      case 'unready':
        await this.#at.unready(step.lane);
        break;
      case 'withdraw':
        await ofOne(this.#calls, step.pick, (callId) => this.store.withdraw(callId, step.why));
        break;
      case 'cancel':
        await ofOne(this.#calls, step.pick, (callId) => this.store.cancel(callId));
        break;
      case 'resume':
        await ofOne(this.#worker.paused, step.pick, (callId) => this.#at.resume(callId));
        break;
      case 'settle':
        await ofOne(this.#worker.held, step.pick, (callId) => this.#worker.settle(callId));
        break;
      case 'pause':
        await ofOne(this.#worker.held, step.pick, (callId) => this.#worker.pause(callId));
        break;
      case 'fetch':
      case 'renew':
        await this.#worker[step.do]();
        break;
      case 'look':
        await Promise.all([this.states(), this.store.lanes('worker'), this.store.load('worker')]);
        for (const callId of this.#calls) await this.store.durable.view('ann', `request-${callId}`);
        break;
      case 'advance':
        this.#clock.advance(step.ms);
        await this.#worker.renew();
    }
  }

  /** Lets the worker run all that is left: what is there then is there for ever. */
  async finish(): Promise<void> {
    for (let turns = this.#calls.length + 5; turns > 0; turns -= 1) {
      for (const callId of this.#calls) await this.#at.resume(callId);
      await this.#at.freed();
      await this.#worker.fetch();
      for (const callId of this.#worker.held) await this.#worker.settle(callId);
      this.#clock.advance(1_500);
    }
  }

  /** Of every call, for as long as Redis knows it. */
  async states(): Promise<(string | undefined)[]> {
    return Promise.all(this.#calls.map((callId) => this.#at.stateOf(callId)));
  }

  async #submit({ lane, ...terms }: AnyClaim, as: 'call' | 'script' | 'durable'): Promise<void> {
    if (as === 'script') {
      const script = this.#at.newScript(lane, { ...terms, pool: 'command' });
      await this.store.submit(script);
      this.#calls.push(script.callId);
      return;
    }
    const call = this.#at.newCall(lane, terms);
    this.#calls.push(call.callId);
    if (as === 'call') await this.store.submit(call);
    else {
      const requestId = `request-${call.callId}`;
      await this.store.durable.submit({ requestId, fingerprint: 'ab', queueWaitMs: 10_000, call });
    }
  }
}

async function ofOne(
  ids: readonly string[],
  pick: number,
  ask: (callId: string) => Promise<unknown>,
): Promise<void> {
  const callId = ids[pick % ids.length];
  if (callId !== undefined) await ask(callId);
}

it('[T71] whatever Redis forgets, nothing is stuck: every call ends, and no lane and no room stays taken', async () => {
  await fc.assert(
    fc.asyncProperty(anyLife, anyCapacities, async (life, capacities) => {
      const one = new ForgetfulLife(capacities);
      await one.live(life);
      await one.finish();
      const lasting = (await one.states()).filter((state) => state !== undefined && !ended.has(state));
      expect(lasting).toEqual([]);
      const rest = { running: [], waiting: [], paused: [], slots: { used: 0 }, files: { used: 0 } };
      expect(await one.store.lanes('worker')).toMatchObject(rest);
      await one.store.close();
    }),
    { numRuns: 25 },
  );
}, 180_000);

it('takes a start of the worker in again whose first registration was lost, and what it was handed meanwhile', async () => {
  const clock = new ManualClock();
  const store = new RedisStore({ address: { url: server.url }, prefix: 'in-again', simulatedTime: clock });
  const worker = new WorkerAtStore({ store, clock });
  await worker.register();
  const callId = await worker.submit(lane);
  await new ForgetfulRedis(server, 'in-again').forgetting(async () => {
    await worker.restart();
    expect((await worker.fetch()).calls).toEqual([callId]);
  });
  expect(await store.fetch(worker.registration)).toMatchObject({ error: { code: 'WORKER_FENCED' } });
  expect(await worker.register({ holds: [worker.hold(callId)] })).toMatchObject({ ok: true });
  expect(await worker.fetch()).toEqual({ calls: [], cancellations: [] });
  expect(await worker.settle(callId)).toBe(true);
  await store.close();
});

it('lets a script pause once more that went on in seconds which were lost', async () => {
  const clock = new ManualClock();
  const store = new RedisStore({ address: { url: server.url }, prefix: 'once-more', simulatedTime: clock });
  const worker = new WorkerAtStore({ store, clock });
  await worker.register();
  const script = await worker.pausedScript(lane);
  await new ForgetfulRedis(server, 'once-more').forgetting(async () => {
    expect(await worker.resume(script)).toBe('resumed');
    expect((await worker.fetch()).calls).toEqual([script]);
  });
  await worker.register({ holds: [worker.hold(script)] });
  expect(await worker.stateOf(script)).toBe('running');
  expect(await worker.pause(script)).toBe(true);
  expect(await worker.resume(script)).toBe('resumed');
  expect((await worker.fetch()).calls).toEqual([script]);
  expect(await worker.settle(script)).toBe(true);
  await store.close();
});
