import type { Clock } from '../clock.js';

interface Alarm {
  readonly at: number;
  readonly stop: () => void;
}

/**
 * One timer for each worker, at the time when something is due next as far as this process has heard. Whoever is
 * awake first does what is due; an alarm too many finds nothing.
 */
export class Alarms {
  readonly #clock: Clock;
  readonly #onDue: (workerId: string) => void;
  readonly #alarms = new Map<string, Alarm>();

  constructor(clock: Clock, onDue: (workerId: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Something is due for that worker after that many milliseconds. */
  expect(workerId: string, ms: number): void {
    const at = this.#clock.now() + ms;
    const present = this.#alarms.get(workerId);
    if (present !== undefined && present.at <= at) return;
    present?.stop();
    const stop = this.#clock.after(ms, () => {
      this.#alarms.delete(workerId);
      this.#onDue(workerId);
    });
    this.#alarms.set(workerId, { at, stop });
  }

  close(): void {
    for (const { stop } of this.#alarms.values()) stop();
    this.#alarms.clear();
  }
}
