import type { CallEnd } from '../store.js';
import type { Clock } from '../clock.js';
import { HandedOver } from './handed-over.js';
import { Restarts } from './restarts.js';
import { Withdrawals } from './withdrawals.js';

interface Parts {
  readonly clock: Clock;
  readonly askRunId: () => Promise<string | undefined>;
  /** Takes a call out of the queue that had left it before, if it is in it. */
  readonly withdrawAgain: (workerId: string, callId: string) => Promise<unknown>;
}

/** What this bridge knows better than a process of Redis that came back without its last seconds. */
export class LostSeconds {
  /** Tells whether what Redis holds may be relied upon. */
  readonly restarts: Restarts;
  readonly #withdrawals: Withdrawals;
  readonly #handedOver = new HandedOver();

  constructor({ clock, askRunId, withdrawAgain }: Parts) {
    this.#withdrawals = new Withdrawals(clock, withdrawAgain);
    this.restarts = new Restarts({
      clock,
      askRunId,
      correct: () => this.#withdrawals.repeat(),
      onKnown: (isAnother) => {
        this.#handedOver.connected(isAnother);
      },
    });
  }

  /** From here on it may be another Redis that is heard. */
  connectionLost(): void {
    this.#handedOver.connectionLost();
  }

  /** A call is in that state, by the news of its worker. */
  hear(callId: string, state: string): void {
    this.#handedOver.hear(callId, state);
  }

  /** A call has left the queue: it must not come back. */
  withdrawn(workerId: string, callId: string): void {
    this.#withdrawals.note(workerId, callId);
  }

  mayHaveRun(callId: string): boolean {
    return this.#handedOver.mayHaveRun(callId);
  }

  /** The end of a call as it may be told, after Redis told it so. */
  endOf(workerId: string, callId: string, end: CallEnd): CallEnd {
    if (end.how === 'withdrawn') this.withdrawn(workerId, callId);
    return this.#handedOver.endOf(callId, end);
  }
}
