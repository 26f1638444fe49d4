import type { RedisClient } from './connections.js';
import { luaScripts } from './lua-scripts.generated.js';
import { storeUnavailable } from './unavailable.js';

export type ScriptName = keyof typeof luaScripts;

/** Runs scripts by their digest, and sends the text where Redis does not know it (any more). */
export class ScriptRunner {
  readonly #client: RedisClient;

  constructor(client: RedisClient) {
    this.#client = client;
  }

  /**
   * The flat list of strings that a script returns, of which it is given as many keys as it takes.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE` where Redis cannot be reached; it may have run nevertheless.
   */
  async run(name: ScriptName, keys: readonly string[], args: readonly string[]): Promise<readonly string[]> {
    const reply = await this.#evaluate(name, keys, args);
    if (isStrings(reply)) return reply;
    throw new Error(`script ${name} returned something else than strings`);
  }

  /**
   * The lists of strings that a script returns.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE` where Redis cannot be reached; it may have run nevertheless.
   */
  async runForLists(
    name: ScriptName,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<readonly (readonly string[])[]> {
    const reply = await this.#evaluate(name, keys, args);
    if (Array.isArray(reply) && reply.every(isStrings)) return reply;
    throw new Error(`script ${name} returned something else than lists of strings`);
  }

  async #evaluate(name: ScriptName, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const script = luaScripts[name];
    const own = keys.slice(0, script.keys);
    if (own.length !== script.keys) throw new Error(`script ${name} takes ${script.keys} keys`);
    try {
      return await this.#client.evalsha(script.sha1, script.keys, ...own, ...args);
    } catch (error) {
      if (!isUnknownScript(error)) throw storeUnavailable(error);
    }
    try {
      return await this.#client.eval(script.text, script.keys, ...own, ...args);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

function isStrings(reply: unknown): reply is readonly string[] {
  return Array.isArray(reply) && reply.every((value) => typeof value === 'string');
}
