/** Version of what is stored. A change that an earlier bridge would misread is a new one. */
export const layoutVersion = '1';

/**
 * Every name that this store has in Redis; nothing else spells one. All keys of a worker bear its id as their
 * hash tag, so that they live in one slot of a cluster.
 */
export class RedisKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The layout that all bridges of this prefix share; the one key without a time to live. */
  get layout(): string {
    return `${this.#prefix}:layout`;
  }

  /** The keys of a worker, in the order in which scripts take them. */
  ofWorker(workerId: string): readonly string[] {
    const own = `${this.#prefix}:{${workerId}}`;
    return [own, `${own}:calls`, `${own}:held`, `${own}:index`, `${own}:due`, `${own}:ended`];
  }

  /** Where the changes of a worker and of its calls are told. */
  channelOf(workerId: string): string {
    return `${this.#prefix}:{${workerId}}:news`;
  }

  /** The id of the worker that a call belongs to. */
  workerOfCall(callId: string): string {
    return `${this.#prefix}:call:{${callId}}`;
  }
}
