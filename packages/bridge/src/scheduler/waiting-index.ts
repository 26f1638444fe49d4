import { laneKey } from '@codelanes/protocol';
import { LaneIndex } from './lane-index.js';
import { LineOfPrincipals } from './line-of-principals.js';
import { OrderedCalls } from './ordered-calls.js';
import type { QueuedCall } from './queued-call.js';
import type { RunningIndex } from './running-index.js';
import { isSetupOf, systemPrincipal } from './setup-call.js';

/**
 * Calls of one lane, from the oldest on, such that none can start while one before it cannot: exclusive calls
 * conflict with each other, shared calls of one pool need all the same room.
 */
export type Line = Iterable<QueuedCall>;

/**
 * The calls that wait for one worker. A withheld call keeps its place, and holds back younger rivals, but is not
 * offered itself: the worker answered `busy`, or it is a place kept for a retry.
 */
export class WaitingIndex {
  readonly #lanes = new LaneIndex();
  readonly #withheld = new Set<QueuedCall>();
  readonly #setups = new Set<QueuedCall>();
  readonly #lines = new Map<string, OrderedCalls | LineOfPrincipals>();

  get size(): number {
    return this.#lanes.size;
  }

  add(call: QueuedCall, offered: boolean): void {
    this.#lanes.add(call);
    if (call.principal === systemPrincipal) this.#setups.add(call);
    if (offered) this.#join(call);
    else {
      this.#withheld.add(call);
      // Exclusive lines hold withheld calls too: those behind one cannot start.
      if (call.mode === 'exclusive') this.#join(call);
    }
  }

  delete(call: QueuedCall): void {
    this.#lanes.delete(call);
    this.#withheld.delete(call);
    this.#setups.delete(call);
    this.#leaveLine(call);
  }

  /** Offers a withheld call again. */
  offer(call: QueuedCall): void {
    if (!this.#withheld.delete(call)) return;
    if (call.mode === 'shared') this.#join(call);
  }

  isOffered(call: QueuedCall): boolean {
    return !this.#withheld.has(call);
  }

  /** Every line that holds a call; the call that starts next is in one of them. */
  lines(): Iterable<Line> {
    return this.#lines.values();
  }

  /** Whether a conflicting call has waited longer, so that this one may not overtake it. */
  hasOlderRival(call: QueuedCall, running: RunningIndex): boolean {
    const rival = this.#lanes.oldestConflict(call);
    if (rival === undefined || rival.sequence >= call.sequence) return false;
    return !this.#mayPassSome(call, running) || this.olderRivals(call, 1, running).length > 0;
  }

  /** The longest waiting of the calls that this one may not overtake. */
  olderRivals(call: QueuedCall, atMost: number, running: RunningIndex): readonly QueuedCall[] {
    if (!this.#mayPassSome(call, running)) return this.#lanes.olderConflicts(call, atMost);
    return this.#lanes
      .olderConflicts(call, Infinity)
      .filter(({ lane }) => !this.hasSetupOf(lane) && !running.hasSetupOf(lane))
      .slice(0, atMost);
  }

  /** Whether a setup of exactly that lane waits. */
  hasSetupOf(lane: readonly string[]): boolean {
    return [...this.#setups].some((setup) => isSetupOf(setup, lane));
  }

  /** The oldest exclusive call of exactly that lane, withheld ones included. */
  oldestExclusive(lane: readonly string[]): QueuedCall | undefined {
    return this.#lanes.oldestExclusive(lane);
  }

  /** 1-based place of a call among all that wait. */
  position(call: QueuedCall): number {
    return this.#lanes.countOlder(call.sequence) + 1;
  }

  /** A read delays nobody who waits for the setup of a lane anyway. */
  #mayPassSome({ mode }: QueuedCall, running: RunningIndex): boolean {
    return mode === 'shared' && (this.#setups.size > 0 || running.hasSetups);
  }

  #join(call: QueuedCall): void {
    const key = lineKey(call);
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = call.mode === 'exclusive' ? new OrderedCalls() : new LineOfPrincipals();
      this.#lines.set(key, line);
    }
    line.add(call);
  }

  #leaveLine(call: QueuedCall): void {
    const key = lineKey(call);
    const line = this.#lines.get(key);
    if (line === undefined) return;
    line.delete(call);
    if (line.size === 0) this.#lines.delete(key);
  }
}

function lineKey(call: QueuedCall): string {
  return call.mode === 'exclusive' ? `exclusive ${laneKey(call.lane)}` : `${call.pool} ${laneKey(call.lane)}`;
}
