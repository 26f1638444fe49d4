import { laneKey, type CallState, type Lane } from '@codelanes/protocol';
import { systemPrincipal } from '../setup-call.js';
import type { NodeCapacity, WithdrawReason } from '../store.js';
import type { NewCall, StoredCall } from '../stored-call.js';
import { naiveNext } from './naive-rule.js';

/** One call of the reference model: everything about it in one flat thing. */
export interface ReferenceCall {
  readonly call: StoredCall;
  readonly sequence: number;
  state: CallState;
  withheld: boolean;
  unresolved: boolean;
  /** When a reservation lapses, or a lease ends. */
  until: number;
  /** Of a script that was paused: until when its worker keeps it. */
  keptUntil: number | undefined;
}

interface Place {
  readonly call: StoredCall;
  readonly sequence: number;
  readonly until: number;
}

export interface ReferenceTimes {
  readonly leaseTtlMs: number;
  readonly fetchWithinMs: number;
  readonly placeKeptMs: number;
  readonly pausedMs: number;
}

const occupying: readonly CallState[] = ['reserved', 'delivered', 'running', 'cancelling'];
const mayWait: readonly CallState[] = ['waiting', 'reserved', 'delivered'];
const leased: readonly CallState[] = ['delivered', 'running', 'cancelling'];

interface Due {
  readonly at: number;
  readonly happens: () => void;
}

/** Whether its script does not run, and no lease says that its worker has it. */
function isOutOfHands({ state, keptUntil }: ReferenceCall): boolean {
  return keptUntil !== undefined && ['paused', 'waiting', 'reserved'].includes(state);
}

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
    this.#enter(call, place?.sequence ?? this.#sequence);
  }

  /** Whether a lane that a worker says to be unready has a setup already. */
  hasSetup(lane: Lane): boolean {
    return this.#inLane(lane).some(({ call }) => call.principal === systemPrincipal);
  }

  /** Enters a setup that the worker asked for, just before all that waits for it. */
  announce(setup: StoredCall): void {
    const entries = [
      ...this.#inLane(setup.lane).filter(({ state }) => mayWait.includes(state)),
      ...this.#places.filter(({ call }) => laneKey(call.lane) === laneKey(setup.lane)),
    ];
    const waiting = entries.filter(({ call }) => call.mode === 'exclusive').map(({ sequence }) => sequence);
    if (waiting.length === 0) this.#sequence += 1;
    this.#enter(setup, waiting.length === 0 ? this.#sequence : Math.min(...waiting) - 0.5);
  }

  withdraw(one: ReferenceCall, why: WithdrawReason): void {
    if (one.state !== 'waiting' && one.state !== 'reserved') return;
    if (one.keptUntil !== undefined) {
      one.state = 'interrupted';
      this.#start();
      return;
    }
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
    if (isOutOfHands(one)) {
      one.state = 'settled';
      this.#start();
    } else if (one.state === 'waiting' || one.state === 'reserved') this.withdraw(one, 'cancelled');
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
    const { state, keptUntil } = one;
    if (state === 'cancelling') one.state = keptUntil === undefined ? 'withdrawn' : 'settled';
    else if (state === 'delivered' && keptUntil !== undefined && keptUntil <= this.#now)
      one.state = 'interrupted';
    else if (state === 'delivered') this.#putBack(one, true);
    this.#start();
  }

  denied(one: ReferenceCall): void {
    if (one.unresolved && leased.includes(one.state)) {
      if (one.keptUntil !== undefined) one.state = 'interrupted';
      else if (one.state === 'cancelling') one.state = 'withdrawn';
      else this.#putBack(one, false);
    }
    this.#offerAll();
  }

  interrupted(one: ReferenceCall): void {
    if (leased.includes(one.state) || isOutOfHands(one)) one.state = 'interrupted';
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

  pause(one: ReferenceCall): void {
    if (!leased.includes(one.state)) return;
    if (one.state === 'cancelling') one.state = 'settled';
    else if (one.call.request.operation === 'run_script') {
      one.state = 'paused';
      one.unresolved = false;
      one.keptUntil = this.#now + this.#times.pausedMs;
    }
    this.#offerAll();
  }

  resume(one: ReferenceCall): void {
    if (one.state !== 'paused') return;
    this.#putBack(one, false);
    this.#start();
  }

  /** What the worker can say to have been interrupted. */
  begun(): ReferenceCall[] {
    return this.calls.filter((one) => leased.includes(one.state) || isOutOfHands(one));
  }

  paused(): ReferenceCall[] {
    return this.calls.filter(({ state }) => state === 'paused');
  }

  renew(ones: readonly ReferenceCall[]): void {
    for (const one of ones) {
      if (leased.includes(one.state)) one.until = this.#now + this.#times.leaseTtlMs;
    }
  }

  /** A later incarnation of the same journal, which holds some of the calls. */
  restart(holds: readonly ReferenceCall[]): void {
    this.#loseScripts();
    for (const one of this.calls) {
      if (one.state === 'reserved') this.#putBack(one, false);
      if (leased.includes(one.state)) one.unresolved = !holds.includes(one);
    }
    this.#offerAll();
  }

  takeOver(): void {
    this.#loseScripts();
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
    for (let due = this.#nextDue(); due !== undefined && due.at <= until; due = this.#nextDue()) {
      this.#now = due.at;
      due.happens();
    }
    this.#now = until;
  }

  #enter(call: StoredCall, sequence: number): void {
    this.calls.push({
      call,
      sequence,
      state: 'waiting',
      withheld: false,
      unresolved: false,
      until: Infinity,
      keptUntil: undefined,
    });
    this.#start();
  }

  /** Calls of exactly that lane that wait or run. */
  #inLane(lane: Lane): ReferenceCall[] {
    const isLive = ({ state }: ReferenceCall) => state === 'waiting' || occupying.includes(state);
    return this.calls.filter((one) => isLive(one) && laneKey(one.call.lane) === laneKey(lane));
  }

  #nextDue(): Due | undefined {
    const dues = [
      ...this.occupying().map((one) => ({
        at: one.until,
        happens: () => {
          this.#ranOut(one);
        },
      })),
      ...this.#places.map((place) => ({
        at: place.until,
        happens: () => {
          this.#dropPlace(place);
        },
      })),
      ...this.calls.filter(isOutOfHands).map((one) => ({
        at: one.keptUntil ?? Infinity,
        happens: () => {
          this.#interrupt(one);
        },
      })),
    ];
    return dues.sort((one, other) => one.at - other.at)[0];
  }

  #ranOut(one: ReferenceCall): void {
    if (one.state === 'reserved') {
      this.#offering = false;
      this.#putBack(one, false);
    } else this.#interrupt(one);
  }

  #dropPlace(place: Place): void {
    this.#places = this.#places.filter((kept) => kept !== place);
    this.#start();
  }

  #interrupt(one: ReferenceCall): void {
    one.state = 'interrupted';
    this.#start();
  }

  #loseScripts(): void {
    for (const one of this.calls.filter(isOutOfHands)) one.state = 'interrupted';
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
