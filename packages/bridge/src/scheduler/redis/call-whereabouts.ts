import type { RedisClient } from './connections.js';
import type { RedisKeys } from './keys.js';
import { storeUnavailable } from './unavailable.js';

/** Longer than any call waits, runs or is paused, and is remembered. */
const keptMs = 3_600_000;
/** Calls whose worker this process remembers; of others it asks Redis. */
const remembered = 10_000;

/** Which worker a call belongs to, for whoever knows nothing but its id. */
export class CallWhereabouts {
  readonly #client: RedisClient;
  readonly #keys: RedisKeys;
  readonly #own = new Map<string, string>();

  constructor(client: RedisClient, keys: RedisKeys) {
    this.#client = client;
    this.#keys = keys;
  }

  /** Writes down where a call is, unless its id is known; gives the worker that has the id. */
  async claim(callId: string, workerId: string, executionMs: number): Promise<string> {
    const key = this.#keys.workerOfCall(callId);
    try {
      const earlier = await this.#client.set(key, workerId, 'PX', keptMs + executionMs, 'NX', 'GET');
      return earlier ?? workerId;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  /** A script that is paused again and again may outlive the time for which it was written down. */
  async prolong(callId: string): Promise<void> {
    try {
      await this.#client.pexpire(this.#keys.workerOfCall(callId), keptMs);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  /** A call of this process is found without asking. */
  remember(callId: string, workerId: string): void {
    this.#own.set(callId, workerId);
    if (this.#own.size <= remembered) return;
    const [oldest] = this.#own.keys();
    if (oldest !== undefined) this.#own.delete(oldest);
  }

  isOwn(callId: string): boolean {
    return this.#own.has(callId);
  }

  /** At once where the call is of this process. */
  knownWorkerOf(callId: string): string | Promise<string | undefined> {
    return this.#own.get(callId) ?? this.workerOf(callId);
  }

  /** @throws CodelanesError `STORE_UNAVAILABLE` */
  async workerOf(callId: string): Promise<string | undefined> {
    const own = this.#own.get(callId);
    if (own !== undefined) return own;
    try {
      return (await this.#client.get(this.#keys.workerOfCall(callId))) ?? undefined;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
}
