/** At least this much time passes between two looks, in milliseconds. */
const leastMs = 100;
/** So many times as long as a look took passes until the next. */
const share = 20;

/** Looks now and then whether something still holds; how long a look takes may be somebody else's choice. */
export class SparingWatch {
  readonly #holds: () => boolean;
  readonly #onEnd: () => void;
  #next: NodeJS.Timeout;

  /** @param onEnd called once, when it holds no more; nobody looks after that. */
  constructor(holds: () => boolean, onEnd: () => void) {
    this.#holds = holds;
    this.#onEnd = onEnd;
    this.#next = this.#after(leastMs);
  }

  close(): void {
    clearTimeout(this.#next);
  }

  #after(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const began = performance.now();
      if (this.#holds()) this.#next = this.#after(Math.max(leastMs, share * (performance.now() - began)));
      else this.#onEnd();
    }, ms);
  }
}
