import type { RedisClient } from '../connections.js';
import type { RedisKeys } from '../keys.js';
import { storeUnavailable } from '../unavailable.js';

/** Long enough for a submission of the same name that is under way; a refused one leaves it free after that. */
const refusedMs = 60_000;

/** Whose a name is, and whether it was free until now. */
export interface Claim {
  readonly workerId: string;
  readonly isNew: boolean;
}

/** Which worker a durable request belongs to, for whoever knows nothing but its principal and id. */
export class RequestWhereabouts {
  readonly #client: RedisClient;
  readonly #keys: RedisKeys;

  constructor(client: RedisClient, keys: RedisKeys) {
    this.#client = client;
    this.#keys = keys;
  }

  /**
   * Writes down where a request is, unless its id is known; gives the worker that has the id. From before the request is
   * taken in for as long as it may be kept: the bridge may die as soon as it was.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE`
   */
  async claim(principal: string, requestId: string, workerId: string, keptMs: number): Promise<Claim> {
    const key = this.#keys.workerOfRequest(principal, requestId);
    try {
      const earlier = await this.#client.set(key, workerId, 'PX', keptMs, 'NX', 'GET');
      return { workerId: earlier ?? workerId, isNew: earlier === null };
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  /**
   * Lets go of the name of a request that was refused.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE`
   */
  async letGo(principal: string, requestId: string): Promise<void> {
    try {
      await this.#client.pexpire(this.#keys.workerOfRequest(principal, requestId), refusedMs);
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
