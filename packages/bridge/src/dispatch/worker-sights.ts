import { CodelanesError } from '@codelanes/protocol';
import type { Pairings } from '../pairing/pairings.js';
import type { Standing } from '../pairing/pairing-record.js';
import type { SchedulerStore, WorkerView } from '../scheduler/store.js';
import type { Grounds } from '../scheduler/stored-call.js';
import { WorkerChanged } from './worker-changed.js';

/** A worker as it was seen, and for whom it works. */
export interface Sight {
  readonly worker: WorkerView | undefined;
  readonly standing: Standing | undefined;
  /** Makes the store refuse a call of a worker that is not as it was seen any more; left out where it cannot be told. */
  readonly grounds?: Grounds | undefined;
  /** Seen some time ago; whoever is refused by it is judged anew. */
  readonly isKept: boolean;
}

/** Workers whose sight is kept. */
const keptSights = 1_000;

/** How often a call is judged of a worker that changes each time before the call is entered. */
const mostJudgements = 5;

/**
 * Workers as this bridge saw them last. Most calls need not ask what their worker is like: it is as it was for the call
 * before, and the store refuses the call where it is not (`WorkerChanged`).
 */
export class WorkerSights {
  readonly #store: Pick<SchedulerStore, 'worker'>;
  readonly #pairings: Pick<Pairings, 'areBesideCalls' | 'look'>;
  /** The oldest first. */
  readonly #kept = new Map<string, Sight>();

  constructor(store: Pick<SchedulerStore, 'worker'>, pairings: Pick<Pairings, 'areBesideCalls' | 'look'>) {
    this.#store = store;
    this.#pairings = pairings;
  }

  /** The worker as it is now. */
  async look(workerId: string): Promise<Sight> {
    // Asked for together: neither answer takes longer for what the other says.
    const [worker, { standing, text }] = await Promise.all([
      this.#store.worker(workerId),
      this.#pairings.look(workerId),
    ]);
    if (worker === undefined || !this.#pairings.areBesideCalls) return { worker, standing, isKept: false };
    const grounds = { capabilitiesId: worker.capabilitiesId, pairing: text ?? '' };
    this.#keep(workerId, { worker, standing, grounds, isKept: true });
    return { worker, standing, grounds, isKept: false };
  }

  /** What is made of the worker as it was seen last; where that is refused, of the worker as it is now. */
  async judge<T>(workerId: string, judge: (sight: Sight) => T): Promise<T> {
    const kept = this.#kept.get(workerId);
    try {
      if (kept !== undefined) return judge(kept);
    } catch {
      // It may have changed since.
    }
    return judge(await this.look(workerId));
  }

  /**
   * Enters what is made of the worker, and makes it anew where the worker has changed since it was seen.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE` where it changes again and again; nothing was entered then
   */
  async enter<C, T>(
    workerId: string,
    judge: (sight: Sight) => C,
    enter: (call: C) => Promise<T>,
  ): Promise<T> {
    for (let turn = 0; turn < mostJudgements; turn += 1) {
      const call = await this.judge(workerId, judge);
      try {
        return await enter(call);
      } catch (error) {
        if (!(error instanceof WorkerChanged)) throw error;
      }
      this.#kept.delete(workerId);
    }
    throw new CodelanesError(
      'STORE_UNAVAILABLE',
      `Worker ${workerId} changed ${mostJudgements} times while this call was let in, so it never ran. Send it again.`,
    );
  }

  #keep(workerId: string, sight: Sight): void {
    this.#kept.delete(workerId);
    this.#kept.set(workerId, sight);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptSights && oldest !== undefined) this.#kept.delete(oldest);
  }
}
