import {
  defaultSchedulerSettings,
  ManualClock,
  MemoryStore,
  RedisStore,
  type SchedulerStore,
} from '@codelanes/bridge';
import type { Lease } from '@codelanes/protocol';
import { newCall, registration, settlement, worker } from '../rig/paper-worker.js';
import type { Arrangement } from './arrangements.js';
import type { DayCall } from './day.js';

/** How long a caller waits in the queue before it leaves for good. */
export const patienceMs = 30_000;

/** A store whose time is the clock's. */
export interface StoreOnClock {
  readonly store: SchedulerStore;
  readonly clock: ManualClock;
}

/** What became of the day's calls. */
export interface Outcome {
  readonly lost: number;
  /** Milliseconds in the queue, of each call that started. */
  readonly waitsMs: readonly number[];
}

// The worker is never silent and no queue is full on this day: what is lost is lost by waiting.
const settings = {
  ...defaultSchedulerSettings,
  leaseTtlMs: 1e9,
  queueLength: 1_000_000,
  principalQueueLength: 1_000_000,
};

export function memoryOnClock(): StoreOnClock {
  const clock = new ManualClock();
  return { clock, store: new MemoryStore(settings, clock) };
}

export function redisOnClock(url: string, prefix: string): StoreOnClock {
  const clock = new ManualClock();
  const times = { bridgeSilentMs: 1e9 };
  return {
    clock,
    store: new RedisStore({ address: { url }, prefix, settings, times, simulatedTime: clock }),
  };
}

/** Puts the day through a store in virtual time, as a bridge and a worker would; nothing sleeps. */
export async function replay(
  calls: readonly DayCall[],
  { slots, laneOf }: Arrangement,
  { store, clock }: StoreOnClock,
): Promise<Outcome> {
  await store.register(registration(slots));
  const day = new Replay(store, clock, laneOf);
  for (const call of calls) {
    await day.until(call.at);
    await day.arrive(call);
  }
  await day.until(Infinity);
  return { lost: day.lost, waitsMs: day.waitsMs };
}

interface Waiting {
  readonly callId: string;
  readonly call: DayCall;
  readonly leavesAt: number;
}

interface Running {
  readonly lease: Lease;
  readonly endsAt: number;
}

class Replay {
  readonly #store: SchedulerStore;
  readonly #clock: ManualClock;
  readonly #laneOf: Arrangement['laneOf'];
  /** In the order of arrival, which is also that of leaving. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Map<string, Running>();
  readonly waitsMs: number[] = [];
  lost = 0;

  constructor(store: SchedulerStore, clock: ManualClock, laneOf: Arrangement['laneOf']) {
    this.#store = store;
    this.#clock = clock;
    this.#laneOf = laneOf;
  }

  /** Lets time pass with all that happens by itself; at one moment calls end before callers lose their patience. */
  async until(at: number): Promise<void> {
    for (;;) {
      const ending = this.#nextEnding();
      const [leaving] = this.#waiting.values();
      const next = Math.min(ending?.endsAt ?? Infinity, leaving?.leavesAt ?? Infinity);
      if (next > at || next === Infinity) return;
      this.#advanceTo(next);
      if (ending?.endsAt === next) await this.#end(ending);
      else if (leaving !== undefined) await this.#leave(leaving);
      await this.#start();
    }
  }

  async arrive(call: DayCall): Promise<void> {
    this.#advanceTo(call.at);
    const entered = newCall(this.#laneOf(call), call.caller);
    const { callId } = entered;
    const submitted = await this.#store.submit(entered);
    if (!submitted.ok) throw new Error(submitted.error.message);
    this.#waiting.set(callId, { callId, call, leavesAt: call.at + patienceMs });
    await this.#start();
  }

  #advanceTo(at: number): void {
    this.#clock.advance(at - this.#clock.now());
  }

  #nextEnding(): Running | undefined {
    let next: Running | undefined;
    for (const one of this.#running.values()) if (next === undefined || one.endsAt < next.endsAt) next = one;
    return next;
  }

  async #start(): Promise<void> {
    const fetched = await this.#store.fetch(worker);
    if (!fetched.ok) throw new Error(fetched.error.message);
    for (const { callId, generation, token } of fetched.assignments) {
      const waiting = this.#waiting.get(callId);
      if (waiting === undefined) throw new Error('A call started that does not wait.');
      this.#waiting.delete(callId);
      const now = this.#clock.now();
      this.waitsMs.push(now - waiting.call.at);
      const lease = { callId, generation, token };
      this.#running.set(callId, { lease, endsAt: now + waiting.call.workMs });
    }
  }

  async #end({ lease }: Running): Promise<void> {
    this.#running.delete(lease.callId);
    const { accepted } = await this.#store.settle(worker, lease, settlement);
    if (!accepted) throw new Error('A settlement was not accepted.');
  }

  /** Not as a time-out: then its place would be kept for a retry, and nobody comes back on this day. */
  async #leave({ callId }: Waiting): Promise<void> {
    this.#waiting.delete(callId);
    const { withdrawn } = await this.#store.withdraw(callId, 'caller_gone');
    if (!withdrawn) throw new Error('A waiting call could not leave.');
    this.lost += 1;
  }
}
