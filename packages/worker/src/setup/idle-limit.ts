/** Stops what has said nothing for too long. */
export class IdleLimit {
  readonly #ms: number | undefined;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /** @param ms without it nothing is ever stopped. */
  constructor(ms: number | undefined) {
    this.#ms = ms;
    this.heard();
  }

  /** Aborted when it is over. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** It has said something: its time begins anew. */
  heard(): void {
    if (this.#ms === undefined) return;
    this.end();
    this.#timer = setTimeout(() => {
      this.#over.abort();
    }, this.#ms);
  }

  /** Nothing is to be stopped any more. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
