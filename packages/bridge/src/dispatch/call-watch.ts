import type { CallView } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import type { OwnedCallView, SchedulerStore } from '../scheduler/store.js';
import { Bell } from './bell.js';
import type { Connection } from './connection.js';
import { recheckMs } from './recheck.js';
import { newStopSignal } from './stop-signal.js';
import { waitingMark } from './waiting-mark.js';

/** A worker rings with every start, so a waiting call looks again at its blockers at most this often. */
const betweenLooksMs = 250;

export interface WatchTerms {
  readonly callId: string;
  readonly principal: string;
  /** The last revision that the watcher saw; without one the answer comes at once. */
  readonly after?: number | undefined;
  /** The mark that stood beside it; without one that of the first look counts as seen. */
  readonly seen?: string | undefined;
  readonly waitMs: number;
}

/** Looks at calls on behalf of their own callers. */
export class CallWatch {
  readonly #store: SchedulerStore;
  readonly #stopping = newStopSignal();

  constructor(store: SchedulerStore) {
    this.#store = store;
  }

  /**
   * The call as it is as soon as it is newer than the revision that was seen or, while it waits, as soon as it
   * waits for something else, as far as that comes with a start at its worker; at the latest after `waitMs`.
   *
   * @throws CodelanesError `CALL_NOT_FOUND` where it is unknown, forgotten or somebody else's: one cannot be
   * told from the other.
   */
  async next(terms: WatchTerms, connection: Connection): Promise<CallView> {
    const endsAt = performance.now() + terms.waitMs;
    const bell = new Bell();
    const signals = [this.#stopping.signal, connection.gone];
    const unsubscribe = [
      this.#store.onCall(terms.callId, bell.ring),
      ...signals.map((signal) => bell.ringOnAbort(signal)),
    ];
    let seen = terms.seen;
    try {
      for (let isFirst = true; ; isFirst = false) {
        const { workerId, view } = await this.#own(terms);
        seen ??= view.mark;
        const leftMs = endsAt - performance.now();
        const { after } = terms;
        const isNews = after === undefined || view.revision > after || view.mark !== seen;
        if (isNews || leftMs <= 0 || signals.some((signal) => signal.aborted)) return view;
        if (isFirst && view.mark !== undefined) unsubscribe.push(this.#onBlockers(workerId, bell));
        await bell.wait(Math.min(leftMs, recheckMs));
      }
    } finally {
      for (const end of unsubscribe) end();
    }
  }

  /** Answers every open watch with the call as it is, and from now on every new one at once. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Rings a while after each start at the worker, however many there are meanwhile. */
  #onBlockers(workerId: string, bell: Bell): () => void {
    let timer: NodeJS.Timeout | undefined;
    const end = this.#store.onWorker(workerId, () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        bell.ring();
      }, betweenLooksMs);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }

  async #own({ callId, principal }: WatchTerms): Promise<OwnedCallView> {
    const owned = await this.#store.call(callId);
    if (owned?.principal !== principal) {
      throw new CodelanesError('CALL_NOT_FOUND', `This caller has no call ${callId}.`);
    }
    const { waiting } = owned.view;
    if (waiting === undefined) return owned;
    return { ...owned, view: { ...owned.view, mark: waitingMark(waiting) } };
  }
}
