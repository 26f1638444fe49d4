import type { Clock } from './clock.js';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is moved: for tests, replays and simulations in virtual time. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Moves on by that many milliseconds, and calls every timer on the way at its own time, in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (let due = this.#earliest(); due !== undefined && due.at <= until; due = this.#earliest()) {
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = until;
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) if (earliest === undefined || timer.at < earliest.at) earliest = timer;
    return earliest;
  }
}
