/** Who wants to hear of which key. Calls back after the present transition is complete, once for many marks. */
export class Listeners {
  readonly #byKey = new Map<string, Set<() => void>>();
  readonly #marked = new Set<string>();

  on(key: string, listener: () => void): () => void {
    // Its own function each time, so that one listener given twice can be taken off once.
    const entry = (): void => {
      listener();
    };
    const present = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, present.add(entry));
    return () => {
      present.delete(entry);
      if (present.size === 0 && this.#byKey.get(key) === present) this.#byKey.delete(key);
    };
  }

  /** Something of that key changed. */
  mark(key: string): void {
    if (!this.#byKey.has(key)) return;
    if (this.#marked.size === 0) queueMicrotask(this.#callBack);
    this.#marked.add(key);
  }

  /** Something of any key may have changed. */
  markAll(): void {
    for (const key of this.#byKey.keys()) this.mark(key);
  }

  close(): void {
    this.#byKey.clear();
  }

  readonly #callBack = (): void => {
    const keys = [...this.#marked];
    this.#marked.clear();
    for (const key of keys) for (const listener of [...(this.#byKey.get(key) ?? [])]) listener();
  };
}
