import type { CallView } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import type { SchedulerStore } from '../scheduler/store.js';
import { Bell } from './bell.js';
import type { Connection } from './connection.js';
import { newStopSignal } from './stop-signal.js';

/** Every change rings; this is only the net beneath a ring that a store lost. */
const recheckMs = 5_000;

export interface WatchTerms {
  readonly callId: string;
  readonly principal: string;
  /** The last revision that the watcher saw; without one the answer comes at once. */
  readonly after?: number | undefined;
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
   * The call as it is as soon as it is newer than the revision that was seen, at the latest after `waitMs`.
   *
   * @throws CodelanesError `CALL_NOT_FOUND` where it is unknown, forgotten or somebody else's: one cannot be
   * told from the other.
   */
  async next({ callId, principal, after, waitMs }: WatchTerms, connection: Connection): Promise<CallView> {
    const endsAt = performance.now() + waitMs;
    const bell = new Bell();
    const signals = [this.#stopping.signal, connection.gone];
    const unsubscribe = [
      this.#store.onCall(callId, bell.ring),
      ...signals.map((signal) => bell.ringOnAbort(signal)),
    ];
    try {
      for (;;) {
        const view = await this.#own(callId, principal);
        const leftMs = endsAt - performance.now();
        const isNews = after === undefined || view.revision > after;
        if (isNews || leftMs <= 0 || signals.some((signal) => signal.aborted)) return view;
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

  async #own(callId: string, principal: string): Promise<CallView> {
    const owned = await this.#store.call(callId);
    if (owned?.principal === principal) return owned.view;
    throw new CodelanesError('CALL_NOT_FOUND', `This caller has no call ${callId}.`);
  }
}
