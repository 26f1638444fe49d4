import type { QueuedCall } from './queued-call.js';

/**
 * Calls from the oldest to the youngest. A sorted array: nearly every call enters at the end and leaves at the
 * front, and the bounded length of a queue keeps the rare move in between cheap.
 */
export class OrderedCalls implements Iterable<QueuedCall> {
  readonly #calls: QueuedCall[] = [];

  get size(): number {
    return this.#calls.length;
  }

  get oldest(): QueuedCall | undefined {
    return this.#calls[0];
  }

  add(call: QueuedCall): void {
    this.#calls.splice(this.countOlder(call.sequence), 0, call);
  }

  delete(call: QueuedCall): void {
    const place = this.countOlder(call.sequence);
    if (this.#calls[place] !== call) return;
    if (place === 0) this.#calls.shift();
    else this.#calls.splice(place, 1);
  }

  /** How many of the calls are older than that place in the sequence. */
  countOlder(sequence: number): number {
    const youngest = this.#calls.at(-1);
    if (youngest === undefined || youngest.sequence < sequence) return this.#calls.length;
    let from = 0;
    let to = this.#calls.length - 1;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const call = this.#calls[middle];
      if (call !== undefined && call.sequence < sequence) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  [Symbol.iterator](): IterableIterator<QueuedCall> {
    return this.#calls[Symbol.iterator]();
  }
}
