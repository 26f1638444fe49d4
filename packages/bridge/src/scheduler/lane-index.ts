import type { Mode } from '@codelanes/protocol';
import { OrderedCalls } from './ordered-calls.js';
import { older, type QueuedCall } from './queued-call.js';

/** Calls by mode, so that those which conflict with a given mode are found without looking at the others. */
class CallsByMode {
  readonly shared = new OrderedCalls();
  readonly exclusive = new OrderedCalls();

  get size(): number {
    return this.shared.size + this.exclusive.size;
  }

  /** The lists that hold every call a call of this mode cannot run beside. */
  against(mode: Mode): readonly OrderedCalls[] {
    return mode === 'exclusive' ? [this.exclusive, this.shared] : [this.exclusive];
  }

  oldestAgainst(mode: Mode): QueuedCall | undefined {
    return mode === 'exclusive' ? older(this.exclusive.oldest, this.shared.oldest) : this.exclusive.oldest;
  }
}

class LaneNode {
  readonly children = new Map<string, LaneNode>();
  /** Calls of exactly this lane. */
  readonly here = new CallsByMode();
  /** Calls of this lane and of every lane beneath it. */
  readonly within = new CallsByMode();
}

/**
 * A set of calls, arranged as the tree of their lanes. The lanes that overlap a lane are those above it, itself
 * and those beneath it; so what conflicts with a call stands in `here` of each node above its own and in `within`
 * of its own. A node exists only while it holds a call.
 */
export class LaneIndex {
  readonly #top = new LaneNode();

  get size(): number {
    return this.#top.within.size;
  }

  add(call: QueuedCall): void {
    let node = this.#top;
    node.within[call.mode].add(call);
    for (const segment of call.lane) {
      let child = node.children.get(segment);
      if (child === undefined) {
        child = new LaneNode();
        node.children.set(segment, child);
      }
      node = child;
      node.within[call.mode].add(call);
    }
    node.here[call.mode].add(call);
  }

  delete(call: QueuedCall): void {
    let node = this.#top;
    node.within[call.mode].delete(call);
    for (const segment of call.lane) {
      const child = node.children.get(segment);
      if (child === undefined) return;
      child.within[call.mode].delete(call);
      if (child.within.size === 0) node.children.delete(segment);
      node = child;
    }
    node.here[call.mode].delete(call);
  }

  /** The oldest call that conflicts with this one; a call of the set conflicts with itself if it is exclusive. */
  oldestConflict(call: QueuedCall): QueuedCall | undefined {
    let node = this.#top;
    let oldest: QueuedCall | undefined;
    for (const segment of call.lane) {
      oldest = older(oldest, node.here.oldestAgainst(call.mode));
      const child = node.children.get(segment);
      if (child === undefined) return oldest;
      node = child;
    }
    return older(oldest, node.within.oldestAgainst(call.mode));
  }

  /** The oldest calls that conflict with this one and are older than it, from the oldest on. */
  olderConflicts(call: QueuedCall, atMost: number): readonly QueuedCall[] {
    return this.#conflicts(call, atMost, call.sequence);
  }

  /** The oldest calls that conflict with this one, whatever its own age. */
  conflicts(call: QueuedCall, atMost: number): readonly QueuedCall[] {
    return this.#conflicts(call, atMost, Infinity);
  }

  /** The oldest exclusive call of exactly that lane. */
  oldestExclusive(lane: readonly string[]): QueuedCall | undefined {
    let node: LaneNode | undefined = this.#top;
    for (const segment of lane) node = node?.children.get(segment);
    return node?.here.exclusive.oldest;
  }

  /** Calls of that lane and of every lane beneath it. */
  *within(lane: readonly string[]): IterableIterator<QueuedCall> {
    let node = this.#top;
    for (const segment of lane) {
      const child = node.children.get(segment);
      if (child === undefined) return;
      node = child;
    }
    yield* node.within.exclusive;
    yield* node.within.shared;
  }

  /** How many calls of the set are older than that place in the sequence. */
  countOlder(sequence: number): number {
    const { shared, exclusive } = this.#top.within;
    return shared.countOlder(sequence) + exclusive.countOlder(sequence);
  }

  #conflicts(call: QueuedCall, atMost: number, before: number): readonly QueuedCall[] {
    const found: QueuedCall[] = [];
    const take = (calls: CallsByMode) => {
      for (const line of calls.against(call.mode)) {
        let taken = 0;
        for (const other of line) {
          if (other.sequence >= before || taken === atMost) break;
          found.push(other);
          taken += 1;
        }
      }
    };
    let node: LaneNode | undefined = this.#top;
    for (const segment of call.lane) {
      take(node.here);
      node = node.children.get(segment);
      if (node === undefined) break;
    }
    if (node !== undefined) take(node.within);
    return found.sort((one, other) => one.sequence - other.sequence).slice(0, atMost);
  }
}
