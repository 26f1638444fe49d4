import type { Lane } from '@codelanes/protocol';

type Listener = (lane: Lane) => void;

/** Who wants to hear for which lanes of a worker a command begins to wait. */
export class Expectations {
  readonly #byWorker = new Map<string, Set<Listener>>();

  on(workerId: string, listener: Listener): () => void {
    const listeners = this.#byWorker.get(workerId) ?? new Set();
    this.#byWorker.set(workerId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#byWorker.get(workerId) === listeners) this.#byWorker.delete(workerId);
    };
  }

  /** Calls back when the present transition is complete. */
  tell(workerId: string, lane: Lane): void {
    if (!this.#byWorker.has(workerId)) return;
    queueMicrotask(() => {
      for (const listener of [...(this.#byWorker.get(workerId) ?? [])]) listener(lane);
    });
  }

  close(): void {
    this.#byWorker.clear();
  }
}
