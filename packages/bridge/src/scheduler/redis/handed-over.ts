import type { CallEnd } from '../store.js';

/** Calls of which it is kept in mind that Redis may have forgotten their start. */
const remembered = 10_000;

const begun = new Set(['delivered', 'running', 'cancelling', 'paused', 'settled', 'interrupted']);

/**
 * Which calls were handed to a worker, as far as this process has heard and has not read how they ended. A Redis that
 * comes back without its last seconds may hold such a call as waiting, and whoever leaves the queue there counts as
 * one that never ran: here it is known that it may have.
 */
export class HandedOver {
  /** The oldest first. */
  readonly #now = new Set<string>();
  /** Handed over when a connection was lost, of which it is not known yet whether Redis went with it. */
  readonly #suspects = new Set<string>();
  /** The oldest first. */
  readonly #mayHaveRun = new Set<string>();

  hear(callId: string, state: string): void {
    if (begun.has(state)) keep(this.#now, callId);
    else if (state === 'waiting') this.#now.delete(callId);
  }

  /** From here on it may be another Redis that is heard. */
  connectionLost(): void {
    for (const callId of this.#now) this.#suspects.add(callId);
    this.#now.clear();
  }

  /** The connection is back, to the same Redis or to one that was started anew. */
  connected(isAnother: boolean): void {
    for (const callId of this.#suspects) {
      keep(isAnother ? this.#mayHaveRun : this.#now, callId);
    }
    this.#suspects.clear();
  }

  mayHaveRun(callId: string): boolean {
    return this.#mayHaveRun.has(callId) || this.#suspects.has(callId);
  }

  /** The end of a call as it may be told: nobody may be told that one never ran which may have. */
  endOf(callId: string, end: CallEnd): CallEnd {
    if (end.how !== 'withdrawn') this.#now.delete(callId);
    if (end.how !== 'withdrawn' || !this.mayHaveRun(callId)) return end;
    return {
      how: 'interrupted',
      reason: 'Redis lost its last seconds, in which this call was at its worker',
    };
  }
}

function keep(calls: Set<string>, callId: string): void {
  calls.add(callId);
  if (calls.size <= remembered) return;
  const [oldest] = calls;
  if (oldest !== undefined) calls.delete(oldest);
}
