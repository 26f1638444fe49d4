/**
 * Wakes one waiter. It remembers a ring that nobody waited for, so that a loop which looks, then waits, misses
 * nothing that happened in between.
 */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  /** Bound, so that it can be handed over as a listener. */
  readonly ring = (): void => {
    this.#rung = true;
    this.#wake?.();
  };

  /** Resolves at the next ring, or after that many milliseconds; whether it was rung. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#rung && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    const wasRung = this.#rung;
    this.#rung = false;
    return wasRung;
  }

  /** Rings when the signal aborts, at once where it has; the returned function ends that. */
  ringOnAbort(signal: AbortSignal): () => void {
    if (signal.aborted) this.ring();
    signal.addEventListener('abort', this.ring);
    return () => {
      signal.removeEventListener('abort', this.ring);
    };
  }
}
