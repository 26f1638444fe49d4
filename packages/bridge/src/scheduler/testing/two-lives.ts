import { callsConflict, type Lane } from '@codelanes/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { newSetupCall, systemPrincipal } from '../setup-call.js';
import type { NodeCapacity, WithdrawReason } from '../store.js';
import { anyClaim, anyLane, type AnyClaim } from './arbitrary-calls.js';
import { ReferenceScheduler, type ReferenceCall } from './reference-scheduler.js';
import type { StoreOnClock } from './stores-under-test.js';
import { idOf, setupTimeoutMs, WorkerAtStore } from './worker-at-store.js';

/** Fractions of their own, so that no two times of different kinds ever fall together. */
const times = { leaseTtlMs: 30_000.5, fetchWithinMs: 2_000.25, placeKeptMs: 3_000.125, pausedMs: 9_000.0625 };
const filePool = 2;

type Said = 'started' | 'busy' | 'settle' | 'denied' | 'interrupted' | 'pause';

type Step =
  | {
      readonly do: 'submit';
      readonly claim: AnyClaim;
      readonly fingerprint: string;
      readonly script: boolean;
    }
  | { readonly do: 'unready'; readonly lane: Lane }
  | { readonly do: 'withdraw'; readonly pick: number; readonly why: WithdrawReason }
  | {
      readonly do: Said | 'cancel' | 'resume';
      readonly pick: number;
    }
  | { readonly do: 'fetch' | 'freed' | 'takeOver' }
  | { readonly do: 'renew' | 'restart'; readonly which: number }
  | { readonly do: 'resize'; readonly slots: number }
  | { readonly do: 'advance'; readonly ms: number };

const pick = fc.nat({ max: 10_000 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('submit'),
      claim: anyClaim,
      fingerprint: fc.constantFrom('f', 'g'),
      script: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('unready'), lane: anyLane }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('fetch') }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('settle'), pick }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume'), pick }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('started', 'busy', 'cancel', 'denied', 'interrupted'), pick }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('withdraw'),
      pick,
      why: fc.constantFrom('deadline', 'deadline', 'caller_gone', 'cancelled'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('renew', 'restart'), which: fc.nat({ max: 0xffff }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('freed', 'takeOver') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resize'), slots: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance'), ms: fc.constantFrom(5, 700, 2_500, 4_000, 31_000) }),
  },
);

/** The store and the reference model through the same life of one worker. */
class TwoLives {
  readonly worker: WorkerAtStore;
  readonly reference: ReferenceScheduler;
  readonly #capacities: readonly NodeCapacity[];
  #slots = 3;
  #journal = 0xa;

  constructor(worker: WorkerAtStore, capacities: readonly NodeCapacity[]) {
    this.worker = worker;
    this.reference = new ReferenceScheduler(this.#slots, filePool, capacities, times);
    this.#capacities = capacities;
  }

  register(changes: { takeOver?: boolean; holds?: ReferenceCall[] } = {}) {
    return this.worker.register({
      slots: this.#slots,
      filePool,
      capacities: this.#capacities,
      journalId: idOf(this.#journal),
      takeOver: changes.takeOver ?? false,
      holds: (changes.holds ?? []).map(({ call }) => this.worker.hold(call.callId)),
    });
  }

  advance(ms: number): void {
    this.worker.clock.advance(ms);
    this.reference.advance(ms);
  }

  async take(step: Step): Promise<void> {
    const { worker, reference } = this;
    // Every step has a moment of its own.
    this.advance(1);
    switch (step.do) {
      case 'submit': {
        const { lane, ...terms } = step.claim;
        const isScript = step.script && terms.pool === 'command';
        const fingerprint = `${step.fingerprint} ${lane.join(' ')} ${terms.mode} ${terms.pool} ${isScript}`;
        const call = worker[isScript ? 'newScript' : 'newCall'](lane, { ...terms, fingerprint });
        const reply = await worker.store.submit(call);
        if (reply.ok) reference.submit(call);
        break;
      }
      case 'unready': {
        const isNew = !reference.hasSetup(step.lane);
        const callId = await worker.unready(step.lane);
        expectSame(isNew, !reference.calls.some(({ call }) => call.callId === callId));
        const setup = newSetupCall(worker.workerId, { ...step, state: 'unready', timeoutMs: setupTimeoutMs });
        if (isNew) reference.announce({ ...setup, callId });
        break;
      }
      case 'withdraw': {
        // No caller waits for a setup, so that none ever takes it back.
        const withCallers = reference.calls.filter(({ call }) => call.principal !== systemPrincipal);
        const one = picked(withCallers, step.pick);
        if (one === undefined) break;
        await worker.store.withdraw(one.call.callId, step.why);
        reference.withdraw(one, step.why);
        break;
      }
      case 'cancel': {
        const one = picked(reference.calls, step.pick);
        if (one === undefined) break;
        await worker.store.cancel(one.call.callId);
        reference.cancel(one);
        break;
      }
      case 'resume':
        await this.#resume(picked(reference.paused(), step.pick));
        break;
      case 'fetch':
        expectSame((await worker.fetch()).calls.toSorted(), reference.fetch());
        await this.#renew(reference.leased().filter(({ state }) => state === 'delivered'));
        break;
      case 'freed':
        await worker.freed();
        reference.freed();
        break;
      case 'started':
      case 'busy':
      case 'settle':
      case 'denied':
      case 'pause':
        await this.#say(step.do, picked(reference.leased(), step.pick));
        break;
      case 'interrupted':
        await this.#say(step.do, picked(reference.begun(), step.pick));
        break;
      case 'renew':
        await this.#renew(chosen(reference.leased(), step.which));
        break;
      case 'restart': {
        const holds = chosen(reference.leased(), step.which);
        worker.incarnation += 1;
        await this.register({ holds });
        reference.restart(holds);
        break;
      }
      case 'takeOver':
        worker.incarnation += 1;
        this.#journal += 1;
        await this.register({ takeOver: true });
        reference.takeOver();
        break;
      case 'resize':
        this.#slots = step.slots;
        await this.register({ holds: reference.leased() });
        reference.resize(step.slots);
        break;
      case 'advance':
        this.advance(step.ms);
    }
  }

  /** Lets the worker run all that is left, until nothing waits and nothing runs. */
  async finish(): Promise<void> {
    for (let left = this.reference.calls.length + 2; left > 0; left -= 1) {
      for (const one of this.reference.paused()) await this.#resume(one);
      await this.take({ do: 'freed' });
      await this.take({ do: 'fetch' });
      for (const one of this.reference.leased()) await this.#say('settle', one);
      this.advance(times.placeKeptMs / 2);
    }
  }

  async states(): Promise<(string | undefined)[]> {
    return Promise.all(this.reference.calls.map(({ call }) => this.worker.stateOf(call.callId)));
  }

  /** One after the other: of two leases that end in the same moment either may be the first to free its lane. */
  async #renew(ones: readonly ReferenceCall[]): Promise<void> {
    for (const one of ones) {
      this.advance(1e-5);
      await this.worker.renew(one.call.callId);
      this.reference.renew([one]);
    }
  }

  async #resume(one: ReferenceCall | undefined): Promise<void> {
    if (one === undefined) return;
    await this.worker.resume(one.call.callId);
    this.reference.resume(one);
  }

  async #say(what: Said, one: ReferenceCall | undefined): Promise<void> {
    if (one === undefined) return;
    const { callId } = one.call;
    if (what === 'settle') await this.worker.settle(callId);
    else if (what === 'pause') await this.worker.pause(callId);
    else if (what === 'denied' || what === 'interrupted') await this.worker.resolve(what, callId);
    else await this.worker.report(what, callId);
    this.reference[what](one);
  }
}

function picked<T>(from: readonly T[], pick: number): T | undefined {
  return from[pick % from.length];
}

function chosen<T>(from: readonly T[], which: number): T[] {
  return from.filter((_, index) => ((which >> (index % 16)) & 1) === 1);
}

function expectSame(got: unknown, expected: unknown): void {
  expect(got).toEqual(expected);
}

/** What is broken, read from what the store itself shows an administrator. */
async function brokenPromises({ worker, reference }: TwoLives, usedBefore: number): Promise<string[]> {
  const view = await worker.store.lanes(worker.workerId);
  if (view === undefined) return ['the worker is unknown'];
  const { running, slots, files } = view;
  const broken: string[] = [];
  for (const [index, one] of running.entries()) {
    for (const other of running.slice(index + 1)) {
      if (callsConflict(one, other)) broken.push(`${one.callId} meets ${other.callId}`);
    }
  }
  if (slots.used > Math.max(slots.of, usedBefore)) broken.push(`${slots.used} commands in ${slots.of} slots`);
  if (files.used > files.of) broken.push(`${files.used} file tools in room for ${files.of}`);
  for (const { lane, commands } of reference.capacities) {
    const within = running.filter(
      (call) => call.pool === 'command' && lane.every((segment, depth) => call.lane[depth] === segment),
    );
    if (within.length > commands) broken.push(`${within.length} commands in ${lane.join('/')}`);
  }
  const paused = view.paused.map(({ callId }) => callId).toSorted();
  const expected = reference.paused().map(({ call }) => call.callId);
  if (paused.join(' ') !== expected.toSorted().join(' ')) broken.push('another call is shown as paused');
  if (running.length !== slots.used + files.used) broken.push('what runs is not what is counted');
  return broken;
}

/** The settings of a store that is put through a life. */
export const settingsOfLife = { ...times, endRememberedMs: 1e9 };

/** All that may happen to a worker, its callers and its bridges, in any order. */
export const anyLife = fc.array(anyStep, { minLength: 30, maxLength: 120, size: 'max' });

/** Takes a store through a life beside the reference: after each step both have to agree, and no promise is broken. */
export async function liveThrough(
  store: StoreOnClock,
  life: readonly Step[],
  capacities: readonly NodeCapacity[],
): Promise<void> {
  const lives = new TwoLives(new WorkerAtStore(store), capacities);
  await lives.register();
  let used = 0;
  for (const step of life) {
    await lives.take(step);
    expect(await lives.states()).toEqual(lives.reference.calls.map(({ state }) => state));
    expect(await brokenPromises(lives, used)).toEqual([]);
    used = (await lives.worker.store.lanes('worker'))?.slots.used ?? 0;
  }
  await lives.finish();
  const ends = await Promise.all(
    lives.reference.calls.map(({ call }) => lives.worker.store.end(call.callId)),
  );
  expect(ends.map((end) => end?.how)).toEqual(lives.reference.calls.map(({ state }) => state));
  expect(ends).not.toContain(undefined);
  expect(await lives.worker.store.lanes('worker')).toMatchObject({ slots: { used: 0 }, waiting: [] });
}
