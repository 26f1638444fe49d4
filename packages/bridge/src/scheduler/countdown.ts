import type { Clock } from './clock.js';

/**
 * Things that all live for the same time: each is called back once when its time is over, in order, unless it
 * was removed or began anew. One timer serves them all; as all have the same time, the first to begin is the
 * first to end.
 */
export class Countdown<T> {
  readonly #clock: Clock;
  readonly #lifeMs: number;
  readonly #onEnd: (item: T) => void;
  readonly #endsAt = new Map<T, number>();
  #stopTimer: (() => void) | undefined;

  constructor(clock: Clock, lifeMs: number, onEnd: (item: T) => void) {
    this.#clock = clock;
    this.#lifeMs = lifeMs;
    this.#onEnd = onEnd;
  }

  /** Begins the time of a thing, or begins it anew. */
  begin(item: T): void {
    this.#endsAt.delete(item);
    this.#endsAt.set(item, this.#clock.now() + this.#lifeMs);
    this.#stopTimer ??= this.#clock.after(this.#lifeMs, this.#wake);
  }

  remove(item: T): void {
    this.#endsAt.delete(item);
  }

  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#endsAt.clear();
  }

  readonly #wake = (): void => {
    const now = this.#clock.now();
    for (const [item, endsAt] of this.#endsAt) {
      if (endsAt > now) break;
      this.#endsAt.delete(item);
      this.#onEnd(item);
    }
    // Only now: what was begun by a callback ends later than what is left of before.
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const [next] = this.#endsAt.values();
    if (next !== undefined) this.#stopTimer = this.#clock.after(next - now, this.#wake);
  };
}
