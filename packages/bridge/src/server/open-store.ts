import type { FastifyBaseLogger } from 'fastify';
import type { DurableRequests } from '../scheduler/durable-requests.js';
import { MemoryStore } from '../scheduler/memory-store.js';
import { RedisStore } from '../scheduler/redis-store.js';
import type { SchedulerSettings, SchedulerStore } from '../scheduler/store.js';
import { SystemClock } from '../scheduler/system-clock.js';
import type { StoreChoice } from './bridge-options.js';

export interface OpenedStore {
  readonly store: SchedulerStore;
  /** Left out where the store offers none. */
  readonly durable: DurableRequests | undefined;
}

/**
 * The store that the operator chose, ready to serve.
 *
 * @throws CodelanesError `STORE_UNAVAILABLE` where Redis cannot be reached or holds another layout than ours.
 */
export async function openStore(
  choice: StoreChoice,
  settings: SchedulerSettings,
  log: FastifyBaseLogger,
): Promise<OpenedStore> {
  if (choice.kind === 'memory') {
    log.info({ store: 'memory' }, 'what the bridge knows lives as long as this process');
    return { store: new MemoryStore(settings, new SystemClock()), durable: undefined };
  }
  const store = new RedisStore({
    address: typeof choice.url === 'string' ? { url: choice.url } : { clusterUrls: choice.url },
    prefix: choice.prefix,
    settings,
    onError: (error) => {
      log.warn({ err: error }, 'the connection to Redis has a fault; it is made again');
    },
  });
  try {
    await store.ready();
  } catch (error) {
    await store.close();
    throw error;
  }
  // Addresses without what stands before @: it may be a password.
  const hosts = [choice.url].flat().map((url) => new URL(url).host);
  log.info({ store: 'redis', hosts, prefix: choice.prefix }, 'bridges of this Redis share what they know');
  return { store, durable: store.durable };
}
