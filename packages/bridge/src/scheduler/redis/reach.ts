import type { RedisClient } from './connections.js';

/** Whether a command can have reached Redis at all, so that a caller may be told that nothing was entered. */
export class Reach {
  readonly #client: RedisClient;
  #connections = 0;

  constructor(client: RedisClient) {
    this.#client = client;
    client.on('ready', () => {
      this.#connections += 1;
    });
  }

  /** Asked later, the answer is whether there was no connection from now until then. */
  watch(): () => boolean {
    const before = this.#connections;
    const wasConnected = this.#client.status === 'ready';
    return () => !wasConnected && this.#connections === before;
  }
}
