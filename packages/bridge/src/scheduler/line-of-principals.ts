import { OrderedCalls } from './ordered-calls.js';
import type { QueuedCall } from './queued-call.js';

/**
 * Shared calls of one lane and one pool. They differ only in age and principal, so of each principal only the
 * oldest can be the next to start; iterating gives those, from the oldest on.
 */
export class LineOfPrincipals implements Iterable<QueuedCall> {
  readonly #byPrincipal = new Map<string, OrderedCalls>();
  readonly #firsts = new OrderedCalls();

  get size(): number {
    return this.#firsts.size;
  }

  add(call: QueuedCall): void {
    let own = this.#byPrincipal.get(call.principal);
    if (own === undefined) {
      own = new OrderedCalls();
      this.#byPrincipal.set(call.principal, own);
    }
    const first = own.oldest;
    own.add(call);
    this.#replaceFirst(first, own.oldest);
  }

  delete(call: QueuedCall): void {
    const own = this.#byPrincipal.get(call.principal);
    if (own === undefined) return;
    const first = own.oldest;
    own.delete(call);
    if (own.size === 0) this.#byPrincipal.delete(call.principal);
    this.#replaceFirst(first, own.oldest);
  }

  #replaceFirst(before: QueuedCall | undefined, now: QueuedCall | undefined): void {
    if (before === now) return;
    if (before !== undefined) this.#firsts.delete(before);
    if (now !== undefined) this.#firsts.add(now);
  }

  [Symbol.iterator](): IterableIterator<QueuedCall> {
    return this.#firsts[Symbol.iterator]();
  }
}
