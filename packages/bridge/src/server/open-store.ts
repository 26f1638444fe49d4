import type { FastifyBaseLogger } from 'fastify';
import { RedisRequestNames } from '../dispatch/redis-request-names.js';
import { MemoryRequestNames, type RequestNames } from '../dispatch/request-names.js';
import { MemoryPairingStore } from '../pairing/memory-pairing-store.js';
import { PairingFile } from '../pairing/pairing-file.js';
import type { PairingStore } from '../pairing/pairing-store.js';
import { RedisPairingStore } from '../pairing/redis-pairing-store.js';
import type { DurableRequests } from '../scheduler/durable-requests.js';
import { MemoryStore } from '../scheduler/memory-store.js';
import { RedisStore } from '../scheduler/redis-store.js';
import type { SchedulerStore } from '../scheduler/store.js';
import type { SchedulerSettings } from '../scheduler/scheduler-settings.js';
import { SystemClock } from '../scheduler/system-clock.js';
import type { PairingOptions, StoreChoice } from './bridge-options.js';

export interface OpenedStore {
  readonly store: SchedulerStore;
  /** Left out where the store offers none. */
  readonly durable: DurableRequests | undefined;
  /** Where pairings are kept; as lasting as the operator chose. */
  readonly pairings: PairingStore;
  readonly names: RequestNames;
}

/**
 * The store that the operator chose, ready to serve.
 *
 * @throws CodelanesError `STORE_UNAVAILABLE` where Redis cannot be reached or holds another layout than ours.
 * @throws Error where the file of pairings cannot be used.
 */
export async function openStore(
  choice: StoreChoice,
  settings: SchedulerSettings,
  { file }: PairingOptions,
  log: FastifyBaseLogger,
): Promise<OpenedStore> {
  if (choice.kind === 'memory') {
    log.info({ store: 'memory' }, 'what the bridge knows lives as long as this process');
    const pairings = await MemoryPairingStore.open(file === undefined ? undefined : new PairingFile(file));
    const store = new MemoryStore(settings, new SystemClock());
    return { store, durable: undefined, pairings, names: new MemoryRequestNames() };
  }
  const address = typeof choice.url === 'string' ? { url: choice.url } : { clusterUrls: choice.url };
  const onError = (error: Error) => {
    log.warn({ err: error }, 'the connection to Redis has a fault; it is made again');
  };
  const { prefix, bridgeSilentMs } = choice;
  const store = new RedisStore({ address, prefix, settings, times: { bridgeSilentMs }, onError });
  try {
    await store.ready();
  } catch (error) {
    await store.close();
    throw error;
  }
  // Addresses without what stands before @: it may be a password.
  const hosts = [choice.url].flat().map((url) => new URL(url).host);
  log.info({ store: 'redis', hosts, prefix: choice.prefix }, 'bridges of this Redis share what they know');
  const pairings = new RedisPairingStore(address, choice.prefix, onError);
  const names = new RedisRequestNames(address, choice.prefix, onError);
  return { store, durable: store.durable, pairings, names };
}
