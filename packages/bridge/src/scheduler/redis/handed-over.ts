import type { CallEnd } from '../store.js';

/** Calls of which it is kept in mind that Redis may have forgotten their start. */
const remembered = 10_000;

const atWorker = new Set(['delivered', 'running', 'cancelling', 'paused']);
const over = new Set(['settled', 'interrupted']);

/**
 * Which calls were handed to a worker, as far as this process has heard and has not read how they ended. A Redis that
 * comes back without its last seconds may hold such a call as waiting, and whoever leaves the queue there counts as
 * one that never ran: here it is known that it may have.
 */
export class HandedOver {
  /** The oldest first. */
  readonly #now = new Set<string>();
  /** Over by the news, apart: however many short calls end, a long one that still runs stays known. The oldest first. */
  readonly #over = new Set<string>();
  /** Handed over when a connection was lost, of which it is not known yet whether Redis went with it; and where they were known. */
  readonly #suspects = new Map<string, Set<string>>();
  /** The oldest first. */
  readonly #mayHaveRun = new Set<string>();

  hear(callId: string, state: string): void {
    if (atWorker.has(state)) keep(this.#now, callId);
    else if (state === 'waiting') this.#forget(callId);
    else if (over.has(state)) {
      this.#now.delete(callId);
      keep(this.#over, callId);
    }
  }

  /** From here on it may be another Redis that is heard. */
  connectionLost(): void {
    for (const known of [this.#over, this.#now]) {
      for (const callId of known) this.#suspects.set(callId, known);
      known.clear();
    }
  }

  /** The connection is back, to the same Redis or to one that was started anew. */
  connected(isAnother: boolean): void {
    for (const [callId, known] of this.#suspects) keep(isAnother ? this.#mayHaveRun : known, callId);
    this.#suspects.clear();
  }

  mayHaveRun(callId: string): boolean {
    return this.#mayHaveRun.has(callId) || this.#suspects.has(callId);
  }

  /** The end of a call as it may be told: nobody may be told that one never ran which may have. */
  endOf(callId: string, end: CallEnd): CallEnd {
    if (end.how !== 'withdrawn') this.#forget(callId);
    if (end.how !== 'withdrawn' || !this.mayHaveRun(callId)) return end;
    return {
      how: 'interrupted',
      reason: 'Redis lost its last seconds, in which this call was at its worker',
    };
  }

  #forget(callId: string): void {
    this.#now.delete(callId);
    this.#over.delete(callId);
  }
}

function keep(calls: Set<string>, callId: string): void {
  calls.add(callId);
  if (calls.size <= remembered) return;
  const [oldest] = calls;
  if (oldest !== undefined) calls.delete(oldest);
}
