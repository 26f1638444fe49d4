import { CodelanesError } from '@codelanes/protocol';
import type { RedisClient } from './connections.js';
import { layoutVersion, type RedisKeys } from './keys.js';
import { storeUnavailable } from './unavailable.js';

/** Stands in Redis for the layout of all that bridges store there; a bridge of another one may not share. */
export class Layout {
  readonly #client: RedisClient;
  readonly #keys: RedisKeys;
  #checked: Promise<void> | undefined;

  constructor(client: RedisClient, keys: RedisKeys) {
    this.#client = client;
    this.#keys = keys;
  }

  /**
   * Resolves where the stored layout is ours, or nothing was stored yet. Asks Redis once.
   *
   * @throws CodelanesError `STORE_UNAVAILABLE` where it is another one, or Redis cannot be reached.
   */
  check(): Promise<void> {
    this.#checked ??= this.#compare().catch((error: unknown) => {
      this.#checked = undefined;
      throw error;
    });
    return this.#checked;
  }

  /** Resolves where moreover Redis answers now. @throws as `check` does. */
  async ready(): Promise<void> {
    await this.check();
    try {
      await this.#client.ping();
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  async #compare(): Promise<void> {
    let found: string | null;
    try {
      found = await this.#client.set(this.#keys.layout, layoutVersion, 'NX', 'GET');
    } catch (error) {
      throw storeUnavailable(error);
    }
    if (found !== null && found !== layoutVersion) throw otherLayout(found);
  }
}

/** The refusal to share what a bridge of another version has stored. */
export function otherLayout(found: string): CodelanesError {
  return new CodelanesError(
    'STORE_UNAVAILABLE',
    `This Redis holds layout ${found} of Codelanes, and this bridge speaks layout ${layoutVersion}: ` +
      'stop the bridges of the other version first, or give this one a key prefix of its own.',
  );
}
