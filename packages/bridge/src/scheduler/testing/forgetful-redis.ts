import type { RedisServer } from './redis-server.js';

/** Brings what stands under a prefix back to an earlier moment, as a Redis does that is restored from a copy. */
export class ForgetfulRedis {
  readonly #server: RedisServer;
  readonly #prefix: string;

  constructor(server: RedisServer, prefix: string) {
    this.#server = server;
    this.#prefix = prefix;
  }

  /** What is done meanwhile never was, for whoever asks Redis. */
  async forgetting(work: () => Promise<unknown>): Promise<void> {
    const kept = await this.#server.ask(async (redis) => {
      const keys = await redis.keys(`${this.#prefix}:*`);
      return Promise.all(keys.map(async (key) => ({ key, value: await redis.dumpBuffer(key) })));
    });
    await work();
    await this.#server.ask(async (redis) => {
      for (const key of await redis.keys(`${this.#prefix}:*`)) await redis.del(key);
      for (const { key, value } of kept) await redis.restore(key, 0, value);
    });
  }
}
