import type { CallEnd, Clock } from '../store.js';
import type { RedisConnections } from './connections.js';
import { HandedOver } from './handed-over.js';
import { Restarts } from './restarts.js';
import { Withdrawals } from './withdrawals.js';

/** What this process knows better than a Redis that came back without its last seconds. */
export class LostSeconds {
  /** Tells whether what Redis holds may be relied upon. */
  readonly restarts: Restarts;
  readonly #withdrawals: Withdrawals;
  readonly #handedOver = new HandedOver();

  /** `withdraw` takes a call out of the queue, if it is in it. */
  constructor(
    { commands, subscriber }: RedisConnections,
    clock: Clock,
    withdraw: (workerId: string, callId: string) => Promise<unknown>,
  ) {
    this.#withdrawals = new Withdrawals(clock, withdraw);
    this.restarts = new Restarts(
      commands,
      clock,
      () => this.#withdrawals.repeat(),
      (isAnother) => {
        this.#handedOver.connected(isAnother);
      },
    );
    for (const client of [commands, subscriber]) {
      client.on('close', () => {
        this.#handedOver.connectionLost();
      });
    }
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
