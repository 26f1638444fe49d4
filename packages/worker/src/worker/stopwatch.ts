/** Measures how long a call runs: from when it was taken, or from the start of its command. */
export class Stopwatch {
  #startedAt = performance.now();

  /** Begins anew. */
  start(): void {
    this.#startedAt = performance.now();
  }

  elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}
