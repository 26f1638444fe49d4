import type { CallState } from '@codelanes/protocol';
import type { NewCall, NodeCapacity, WithdrawReason } from '../store.js';
import { naiveNext } from './naive-rule.js';

/** One call of the reference model: everything about it in one flat thing. */
export interface ReferenceCall {
  readonly call: NewCall;
  readonly sequence: number;
  state: CallState;
  withheld: boolean;
  unresolved: boolean;
  /** When a reservation lapses, or a lease ends. */
  until: number;
}

interface Place {
  readonly call: NewCall;
  readonly sequence: number;
  readonly until: number;
}

export interface ReferenceTimes {
  readonly leaseTtlMs: number;
  readonly fetchWithinMs: number;
  readonly placeKeptMs: number;
}

const occupying: readonly CallState[] = ['reserved', 'delivered', 'running', 'cancelling'];
const leased: readonly CallState[] = ['delivered', 'running', 'cancelling'];

/**
 * What a store promises, as plainly as it can be written: lists that are searched from end to end, the
 * word-by-word rule after each step. It knows one worker; its times must not fall together.
 */
export class ReferenceScheduler {
  readonly calls: ReferenceCall[] = [];
  readonly capacities: readonly NodeCapacity[];
  readonly filePool: number;
  slots: number;
  #places: Place[] = [];
  #now = 0;
  #offering = true;
  #sequence = 0;
  readonly #times: ReferenceTimes;

  constructor(slots: number, filePool: number, capacities: readonly NodeCapacity[], times: ReferenceTimes) {
    this.slots = slots;
    this.filePool = filePool;
    this.capacities = capacities;
    this.#times = times;
  }

  occupying(): ReferenceCall[] {
    return this.calls.filter(({ state }) => occupying.includes(state));
  }

  leased(): ReferenceCall[] {
    return this.calls.filter(({ state }) => leased.includes(state));
  }

  submit(call: NewCall): void {
    const place = this.#places
      .filter((kept) => kept.call.principal === call.principal && kept.call.fingerprint === call.fingerprint)
      .sort((one, other) => one.sequence - other.sequence)[0];
    if (place === undefined) this.#sequence += 1;
    else this.#places = this.#places.filter((kept) => kept !== place);
    const sequence = place?.sequence ?? this.#sequence;
    this.calls.push({
      call,
      sequence,
      state: 'waiting',
      withheld: false,
      unresolved: false,
      until: Infinity,
    });
    this.#start();
  }

  withdraw(one: ReferenceCall, why: WithdrawReason): void {
    if (one.state !== 'waiting' && one.state !== 'reserved') return;
    one.state = 'withdrawn';
    if (why === 'deadline') {
      this.#places.push({
        call: one.call,
        sequence: one.sequence,
        until: this.#now + this.#times.placeKeptMs,
      });
    }
    this.#start();
  }

  cancel(one: ReferenceCall): void {
    if (one.state === 'waiting' || one.state === 'reserved') this.withdraw(one, 'cancelled');
    else if (one.state === 'delivered' || one.state === 'running') one.state = 'cancelling';
  }

  fetch(): string[] {
    this.#offering = true;
    this.#start();
    const handed = this.calls.filter(({ state }) => state === 'reserved');
    for (const one of handed) {
      one.state = 'delivered';
      one.unresolved = false;
      one.until = this.#now + this.#times.leaseTtlMs;
    }
    return handed.map(({ call }) => call.callId).sort();
  }

  started(one: ReferenceCall): void {
    if (one.state === 'delivered') one.state = 'running';
    this.#offerAll();
  }

  busy(one: ReferenceCall): void {
    if (one.state === 'delivered') this.#putBack(one, true);
    else if (one.state === 'cancelling') one.state = 'withdrawn';
    this.#start();
  }

  denied(one: ReferenceCall): void {
    if (one.unresolved && leased.includes(one.state)) {
      if (one.state === 'cancelling') one.state = 'withdrawn';
      else this.#putBack(one, false);
    }
    this.#offerAll();
  }

  interrupted(one: ReferenceCall): void {
    if (leased.includes(one.state)) one.state = 'interrupted';
    this.#offerAll();
  }

  freed(): void {
    this.#offerAll();
  }

  settle(one: ReferenceCall): void {
    if (!leased.includes(one.state)) return;
    one.state = 'settled';
    this.#offerAll();
  }

  renew(ones: readonly ReferenceCall[]): void {
    for (const one of ones) {
      if (leased.includes(one.state)) one.until = this.#now + this.#times.leaseTtlMs;
    }
  }

  /** A later incarnation of the same journal, which holds some of the calls. */
  restart(holds: readonly ReferenceCall[]): void {
    for (const one of this.calls) {
      if (one.state === 'reserved') this.#putBack(one, false);
      if (leased.includes(one.state)) one.unresolved = !holds.includes(one);
    }
    this.#offerAll();
  }

  takeOver(): void {
    for (const one of this.leased()) one.state = 'interrupted';
    for (const one of this.calls) if (one.state === 'reserved') this.#putBack(one, false);
    this.#offerAll();
  }

  /** A registration that lists all that was fetched. */
  resize(slots: number): void {
    this.slots = slots;
    for (const one of this.leased()) one.unresolved = false;
    this.#offerAll();
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (let due = this.#nextDue(); due !== undefined && due.until <= until; due = this.#nextDue()) {
      this.#now = due.until;
      if (!('state' in due)) {
        this.#places = this.#places.filter((place) => place !== due);
        this.#start();
      } else if (due.state === 'reserved') {
        this.#offering = false;
        this.#putBack(due, false);
      } else {
        due.state = 'interrupted';
        this.#start();
      }
    }
    this.#now = until;
  }

  #nextDue(): ReferenceCall | Place | undefined {
    return [...this.occupying(), ...this.#places].sort((one, other) => one.until - other.until)[0];
  }

  #putBack(one: ReferenceCall, withheld: boolean): void {
    one.state = 'waiting';
    one.withheld = withheld;
    one.unresolved = false;
  }

  #offerAll(): void {
    for (const one of this.calls) one.withheld = false;
    this.#start();
  }

  #start(): void {
    if (!this.#offering) return;
    const queued = ({ call, sequence }: Place | ReferenceCall, blocked: boolean) => {
      const { callId: id, lane, mode, pool, principal } = call;
      if (pool === 'none') throw new Error('the reference model knows no calls without a lane');
      return { id, lane, mode, pool, principal, sequence, blocked };
    };
    for (;;) {
      const waiting = this.calls.filter(({ state }) => state === 'waiting');
      const next = naiveNext({
        waiting: [
          ...waiting.map((one) => queued(one, one.withheld)),
          ...this.#places.map((place) => queued(place, true)),
        ],
        running: this.occupying().map((one) => queued(one, false)),
        slots: this.slots,
        filePool: this.filePool,
        capacities: this.capacities,
      });
      const started = waiting.find(({ call }) => call.callId === next?.id);
      if (started === undefined) return;
      started.state = 'reserved';
      started.until = this.#now + this.#times.fetchWithinMs;
    }
  }
}
