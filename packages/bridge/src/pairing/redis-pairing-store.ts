import { randomBytes } from 'node:crypto';
import type { RedisAddress, RedisConnections } from '../scheduler/redis/connections.js';
import { connectRedis } from '../scheduler/redis/connections.js';
import { RedisKeys } from '../scheduler/redis/keys.js';
import { storeUnavailable } from '../scheduler/redis/unavailable.js';
import type { PairingStore, RecordName } from './pairing-store.js';

/**
 * KEYS: the record. ARGV: the expected text ('' for none), the next one, for how many milliseconds, the channel
 * that is told, and whose record it is ('' for a code).
 */
const replaceScript = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
if ARGV[5] ~= '' then redis.call('PUBLISH', ARGV[4], ARGV[5]) end
return 1`;

/** The pairings of all bridges of one Redis. Methods reject with `STORE_UNAVAILABLE` while it cannot be reached. */
export class RedisPairingStore implements PairingStore {
  readonly isLasting = true;
  readonly isBesideCalls = true;
  readonly #connections: RedisConnections;
  readonly #keys: RedisKeys;
  readonly #listeners = new Set<(workerId: string | undefined) => void>();

  constructor(address: RedisAddress, prefix: string, onError: (error: Error) => void) {
    this.#connections = connectRedis(address, onError);
    this.#keys = new RedisKeys(prefix);
    const { subscriber } = this.#connections;
    subscriber.on('message', (_channel: string, workerId: string) => {
      this.#tell(workerId);
    });
    subscriber.on('ready', () => void this.#subscribe());
    // A connection that fails is made again by itself, and then is ready.
    subscriber.connect().catch(() => undefined);
  }

  async read(name: RecordName): Promise<string | undefined> {
    try {
      return (await this.#connections.commands.get(this.#keyOf(name))) ?? undefined;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  async replace(
    name: RecordName,
    expected: string | undefined,
    next: string | undefined,
    keptMs: number,
  ): Promise<boolean> {
    const whose = 'worker' in name ? name.worker : '';
    const args = [expected ?? '', next ?? '', String(keptMs), this.#keys.pairings, whose];
    try {
      return (await this.#connections.commands.eval(replaceScript, 1, this.#keyOf(name), ...args)) === 1;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  async useNonce(workerId: string, nonce: string, _signedAt: number, keptMs: number): Promise<boolean> {
    const key = this.#keys.nonceOf(workerId, nonce);
    // A command that was on its way when the connection was lost is sent again, and must not meet itself.
    const use = randomBytes(8).toString('hex');
    try {
      const earlier = await this.#connections.commands.set(key, use, 'PX', keptMs, 'NX', 'GET');
      return earlier === null || earlier === use;
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  watch(listener: (workerId: string | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    this.#connections.close();
    return Promise.resolve();
  }

  async #subscribe(): Promise<void> {
    try {
      await this.#connections.subscriber.subscribe(this.#keys.pairings);
    } catch {
      // The connection was lost again, and is made again.
      return;
    }
    this.#tell(undefined);
  }

  #tell(workerId: string | undefined): void {
    for (const listener of this.#listeners) listener(workerId);
  }

  #keyOf(name: RecordName): string {
    return 'worker' in name ? this.#keys.pairingOf(name.worker) : this.#keys.pairingCode(name.code);
  }
}
