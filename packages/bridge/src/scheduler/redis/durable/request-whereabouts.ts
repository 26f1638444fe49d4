import type { RedisClient } from '../connections.js';
import type { RedisKeys } from '../keys.js';
import { storeUnavailable } from '../unavailable.js';

/** Long enough for a submission that is under way; a refused one leaves its name free after that. */
const claimedMs = 60_000;

/** Which worker a durable request belongs to, for whoever knows nothing but its principal and id. */
export class RequestWhereabouts {
  readonly #client: RedisClient;
  readonly #keys: RedisKeys;

  constructor(client: RedisClient, keys: RedisKeys) {
    this.#client = client;
    this.#keys = keys;
  }

  /**
   * Writes down for a minute where a request is, unless its id is known; gives the worker that has the id.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE`
   */
  async claim(principal: string, requestId: string, workerId: string): Promise<string> {
    const key = this.#keys.workerOfRequest(principal, requestId);
    try {
      return (await this.#client.set(key, workerId, 'PX', claimedMs, 'NX', 'GET')) ?? workerId;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  /**
   * Keeps the name of a request that was taken in.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE`
   */
  async keep(principal: string, requestId: string, workerId: string, keptMs: number): Promise<void> {
    try {
      await this.#client.set(this.#keys.workerOfRequest(principal, requestId), workerId, 'PX', keptMs);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  /** @throws CodelanesError `STORE_UNAVAILABLE` */
  async workerOf(principal: string, requestId: string): Promise<string | undefined> {
    try {
      return (await this.#client.get(this.#keys.workerOfRequest(principal, requestId))) ?? undefined;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
}
