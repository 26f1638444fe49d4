import type { Clock } from '../clock.js';

/** As old as a copy of Redis may be for a call that left the queue since then to stay out of it. */
const rememberedMs = 60_000;

/**
 * What has left the queue of late, as far as this process knows. A caller was told that such a call never ran, so it
 * must not come back with a Redis that has lost its last seconds.
 */
export class Withdrawals {
  readonly #clock: Clock;
  readonly #withdrawAgain: (workerId: string, callId: string) => Promise<unknown>;
  /** Oldest first. */
  readonly #calls = new Map<string, { readonly workerId: string; readonly at: number }>();

  constructor(clock: Clock, withdrawAgain: (workerId: string, callId: string) => Promise<unknown>) {
    this.#clock = clock;
    this.#withdrawAgain = withdrawAgain;
  }

  note(workerId: string, callId: string): void {
    this.#forgetOld();
    this.#calls.delete(callId);
    this.#calls.set(callId, { workerId, at: this.#clock.now() });
  }

  /** Takes them all out once more. */
  async repeat(): Promise<void> {
    this.#forgetOld();
    const calls = [...this.#calls];
    // What cannot be reached now is tried again after the next connection.
    await Promise.allSettled(calls.map(([callId, { workerId }]) => this.#withdrawAgain(workerId, callId)));
  }

  /** The id of a call may come again, for another one. */
  #forgetOld(): void {
    const now = this.#clock.now();
    for (const [callId, { at }] of this.#calls) {
      if (now - at < rememberedMs) break;
      this.#calls.delete(callId);
    }
  }
}
