import type { Loss } from './store.js';

/** Tells whoever counts them of calls that did not end as their callers hoped. */
export class Losses {
  readonly #listeners = new Set<(loss: Loss) => void>();

  on(listener: (loss: Loss) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  tell(loss: Loss): void {
    for (const listener of this.#listeners) listener(loss);
  }
}
