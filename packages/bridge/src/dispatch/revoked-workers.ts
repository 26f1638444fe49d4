import type { Pairings } from '../pairing/pairings.js';
import { newStopSignal } from './stop-signal.js';

/** What is asked of pairings. */
export type WatchedPairings = Pick<Pairings, 'standing' | 'watch'>;

/**
 * Tells calls that their worker was sent away, whichever bridge was asked to: nothing of it is let in any more, so that
 * no answer will come.
 */
export class RevokedWorkers {
  readonly #pairings: WatchedPairings;
  /** Of every worker that a call was for. */
  readonly #gone = new Map<string, AbortController>();

  constructor(pairings: WatchedPairings) {
    this.#pairings = pairings;
    pairings.watch((changed) => {
      const seen = changed === undefined ? [...this.#gone.keys()] : [changed];
      for (const workerId of seen) void this.#look(workerId);
    });
  }

  /** Aborted once that worker is revoked; a worker that was paired anew has another one. */
  signalOf(workerId: string): AbortSignal {
    const known = this.#gone.get(workerId);
    if (known !== undefined) return known.signal;
    const gone = newStopSignal();
    this.#gone.set(workerId, gone);
    return gone.signal;
  }

  async #look(workerId: string): Promise<void> {
    const gone = this.#gone.get(workerId);
    if (gone === undefined) return;
    try {
      const standing = await this.#pairings.standing(workerId);
      if (standing?.kind === 'revoked') gone.abort();
      else if (gone.signal.aborted) this.#gone.delete(workerId);
    } catch {
      // A store that is away tells of every change that was missed once it is back.
    }
  }
}
