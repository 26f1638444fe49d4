import { limits } from '@codelanes/protocol';
import { randomBytes } from 'node:crypto';
import type { RedisAddress, RedisConnections } from '../scheduler/redis/connections.js';
import { connectRedis } from '../scheduler/redis/connections.js';
import { RedisKeys } from '../scheduler/redis/keys.js';
import { storeUnavailable } from '../scheduler/redis/unavailable.js';
import type { RequestNames } from './request-names.js';

/** No request that lets a script go on is answered for longer. */
const keptMs = 2 * (limits.pausedScriptMs + limits.programmaticTimeoutMs);

/** The names of all bridges of one Redis, which they ask once there is a name. Methods reject with `STORE_UNAVAILABLE`. */
export class RedisRequestNames implements RequestNames {
  readonly #connections: RedisConnections;
  readonly #keys: RedisKeys;

  constructor(address: RedisAddress, prefix: string, onError: (error: Error) => void) {
    this.#connections = connectRedis(address, onError);
    this.#keys = new RedisKeys(prefix);
  }

  async take(name: string, callId: string): Promise<boolean> {
    // A command that was on its way when the connection was lost is sent again, and must not meet itself.
    const value = `${callId} ${randomBytes(8).toString('hex')}`;
    const key = this.#keys.callOfRequest(name);
    const earlier = await this.#ask((redis) => redis.set(key, value, 'PX', keptMs, 'NX', 'GET'));
    return earlier === null || earlier === value;
  }

  async callOf(name: string): Promise<string | undefined> {
    const value = await this.#ask((redis) => redis.get(this.#keys.callOfRequest(name)));
    return value?.split(' ')[0];
  }

  async letGo(name: string): Promise<void> {
    await this.#ask((redis) => redis.del(this.#keys.callOfRequest(name)));
  }

  close(): void {
    this.#connections.close();
  }

  async #ask<T>(command: (redis: RedisConnections['commands']) => Promise<T>): Promise<T> {
    try {
      return await command(this.#connections.commands);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
}
