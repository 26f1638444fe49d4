import type { Clock } from '../clock.js';
import type { RedisClient } from './connections.js';
import type { RedisKeys } from './keys.js';
import { storeUnavailable } from './unavailable.js';

/** Never without a time to live, wherever a bridge dies. KEYS: the list. ARGV: for how many milliseconds, and who. */
const enterScript = `
redis.call('SADD', KEYS[1], ARGV[2])
return redis.call('PEXPIRE', KEYS[1], ARGV[1])`;

/**
 * Which workers there are. It stands in a key of its own, as the keys of a worker are found by its id; so it is
 * written beside the scripts, and whoever reads it looks whether the worker is still known.
 */
export class WorkerList {
  readonly #client: RedisClient;
  readonly #keys: RedisKeys;
  readonly #clock: Clock;
  readonly #keptMs: number;
  /** The oldest first. */
  readonly #notedAt = new Map<string, number>();

  constructor(client: RedisClient, keys: RedisKeys, clock: Clock, keptMs: number) {
    this.#client = client;
    this.#keys = keys;
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  /** A worker speaks to this bridge; written down now and then, so that the list outlives its time to live. */
  async note(workerId: string): Promise<void> {
    const now = this.#clock.now();
    for (const [noted, at] of this.#notedAt) {
      if (now - at < this.#keptMs / 4) break;
      this.#notedAt.delete(noted);
    }
    if (!this.#notedAt.has(workerId)) await this.enter(workerId);
  }

  /** A worker has registered: it may have been taken off the list while it was unknown. */
  async enter(workerId: string): Promise<void> {
    this.#notedAt.delete(workerId);
    this.#notedAt.set(workerId, this.#clock.now());
    try {
      await this.#client.eval(enterScript, 1, this.#keys.workers, String(this.#keptMs), workerId);
    } catch (error) {
      this.#notedAt.delete(workerId);
      throw storeUnavailable(error);
    }
  }

  /** By id, without those whose keys are gone, which are taken off. @throws CodelanesError `STORE_UNAVAILABLE` */
  async ids(): Promise<readonly string[]> {
    try {
      const listed = await this.#client.smembers(this.#keys.workers);
      const known = await this.#knownOf(listed);
      const gone = listed.filter((workerId) => !known.includes(workerId));
      return [...known, ...(await this.#takeOff(gone))].sort();
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  /** Tells which of them have come back meanwhile, and so stay. */
  async #takeOff(gone: readonly string[]): Promise<readonly string[]> {
    if (gone.length === 0) return [];
    await this.#client.srem(this.#keys.workers, ...gone);
    const back = await this.#knownOf(gone);
    await Promise.all(back.map((workerId) => this.enter(workerId)));
    return back;
  }

  async #knownOf(workerIds: readonly string[]): Promise<readonly string[]> {
    const known = await Promise.all(
      workerIds.map((workerId) => this.#client.exists(this.#keys.stateOf(workerId))),
    );
    return workerIds.filter((_, index) => known[index] === 1);
  }
}
