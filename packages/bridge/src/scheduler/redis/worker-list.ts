import type { Clock } from '../clock.js';
import type { RedisClient } from './connections.js';
import type { RedisKeys } from './keys.js';
import { storeUnavailable } from './unavailable.js';

/**
 * Which workers there are. It stands in a key of its own, as the keys of a worker are found by its id; so it is
 * written beside the scripts, and whoever reads it looks whether the worker is still known.
 */
export class WorkerList {
  readonly #client: RedisClient;
  readonly #keys: RedisKeys;
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #notedAt = new Map<string, number>();

  constructor(client: RedisClient, keys: RedisKeys, clock: Clock, keptMs: number) {
    this.#client = client;
    this.#keys = keys;
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  /** A worker speaks to this bridge; written down now and then, so that the list outlives its time to live. */
  async note(workerId: string): Promise<void> {
    const notedAt = this.#notedAt.get(workerId);
    const now = this.#clock.now();
    if (notedAt !== undefined && now - notedAt < this.#keptMs / 4) return;
    this.#notedAt.set(workerId, now);
    try {
      await this.#client.sadd(this.#keys.workers, workerId);
      await this.#client.pexpire(this.#keys.workers, this.#keptMs);
    } catch (error) {
      this.#notedAt.delete(workerId);
      throw storeUnavailable(error);
    }
  }

  /** By id, without those whose keys are gone. @throws CodelanesError `STORE_UNAVAILABLE` */
  async ids(): Promise<readonly string[]> {
    try {
      const listed = await this.#client.smembers(this.#keys.workers);
      const known = await Promise.all(
        listed.map((workerId) => this.#client.exists(this.#keys.stateOf(workerId))),
      );
      return listed.filter((_, index) => known[index] === 1).sort();
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
}
