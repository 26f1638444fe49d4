/**
 * The names of requests that let a script go on, while they are answered: the call of each can be found at every bridge
 * of a store, to be cancelled there. A name whose bridge died goes by itself.
 */
export interface RequestNames {
  /** Takes a name for a call; `false` where a request of that name is being answered. */
  take(name: string, callId: string): Promise<boolean>;
  callOf(name: string): Promise<string | undefined>;
  letGo(name: string): Promise<void>;
  close(): void;
}

/** The names of one bridge. */
export class MemoryRequestNames implements RequestNames {
  readonly #calls = new Map<string, string>();

  take(name: string, callId: string): Promise<boolean> {
    const isFree = !this.#calls.has(name);
    if (isFree) this.#calls.set(name, callId);
    return Promise.resolve(isFree);
  }

  callOf(name: string): Promise<string | undefined> {
    return Promise.resolve(this.#calls.get(name));
  }

  letGo(name: string): Promise<void> {
    this.#calls.delete(name);
    return Promise.resolve();
  }

  close(): void {
    this.#calls.clear();
  }
}
