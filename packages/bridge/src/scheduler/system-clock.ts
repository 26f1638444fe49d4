import type { Clock } from './clock.js';

/**
 * The machine's monotonic clock. Its timers do not keep a process alive: a bridge lives as long as its server
 * listens, not as long as something is remembered.
 */
export class SystemClock implements Clock {
  #latest = 0;

  now(): number {
    this.#latest = Math.max(this.#latest, performance.now());
    return this.#latest;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = setTimeout(callback, Math.ceil(ms)).unref();
    return () => {
      clearTimeout(timer);
    };
  }
}
