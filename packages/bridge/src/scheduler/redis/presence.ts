import type { Clock } from '../clock.js';

/** Beats that fit into the time for which a bridge may be silent, so that one may be lost. */
const beatsPerSilence = 3;

/**
 * Tells each worker's queue that this process lives for as long as it has calls in it. A process that has none
 * says nothing.
 */
export class Presence {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #beat: (workerId: string) => Promise<boolean>;
  readonly #timers = new Map<string, () => void>();
  #closed = false;

  /** `beat` says whether to go on. */
  constructor(clock: Clock, silenceMs: number, beat: (workerId: string) => Promise<boolean>) {
    this.#clock = clock;
    this.#everyMs = silenceMs / beatsPerSilence;
    this.#beat = beat;
  }

  /** A call of this process waits for that worker. */
  begin(workerId: string): void {
    if (this.#closed || this.#timers.has(workerId)) return;
    const stop = this.#clock.after(this.#everyMs, () => void this.#tell(workerId));
    this.#timers.set(workerId, stop);
  }

  /** At once, as the last that was said may have been lost or long ago. */
  tellAll(): void {
    for (const [workerId, stop] of [...this.#timers]) {
      stop();
      void this.#tell(workerId);
    }
  }

  close(): void {
    this.#closed = true;
    for (const stop of this.#timers.values()) stop();
    this.#timers.clear();
  }

  async #tell(workerId: string): Promise<void> {
    this.#timers.delete(workerId);
    // A Redis that cannot be reached is told as soon as it can.
    if (await this.#beat(workerId).catch(() => true)) this.begin(workerId);
  }
}
