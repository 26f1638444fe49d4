import { setTimeout as delay } from 'node:timers/promises';
import { CodelanesError } from '@codelanes/protocol';
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
import { storeUnavailable } from '../scheduler/redis/unavailable.js';
import type { SchedulerStore } from '../scheduler/store.js';
import type { SchedulerSettings } from '../scheduler/scheduler-settings.js';
import { SystemClock } from '../scheduler/system-clock.js';
import type { PairingOptions, StoreChoice } from './bridge-options.js';

/** The client gives up a Redis alone before that; it would ask the nodes of a cluster for ever. */
const reachedWithinMs = 15_000;
const notLetIn = /^(NOAUTH|WRONGPASS|NOPERM)\b/;

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
  const opening = new AbortController();
  let fault: Error | undefined;
  const onError = (error: Error) => {
    fault = nodeFaultOf(error);
    // Asked again, it would say the same.
    if (fault.message.includes('cluster support disabled')) opening.abort();
    log.warn({ err: error }, 'the connection to Redis has a fault; it is made again');
  };
  const { prefix, bridgeSilentMs } = choice;
  const store = new RedisStore({ address, prefix, settings, times: { bridgeSilentMs }, onError });
  try {
    await inTime(store.ready(), opening);
  } catch (error) {
    await store.close();
    throw startFailure(error, fault);
  }
  // Addresses without what stands before @: it may be a password.
  const hosts = [choice.url].flat().map((url) => new URL(url).host);
  log.info({ store: 'redis', hosts, prefix: choice.prefix }, 'bridges of this Redis share what they know');
  const pairings = new RedisPairingStore(address, choice.prefix, onError);
  const names = new RedisRequestNames(address, choice.prefix, onError);
  return { store, durable: store.durable, pairings, names };
}

/** Waits until the time is over, or until there is nothing to wait for any more. */
async function inTime(ready: Promise<void>, opening: AbortController): Promise<void> {
  const over = delay(reachedWithinMs, undefined, { signal: opening.signal }).catch(() => undefined);
  const late = over.then(() => {
    throw storeUnavailable(new Error('nothing answered in time'));
  });
  try {
    await Promise.race([ready, late]);
  } finally {
    opening.abort();
  }
}

/** Why the store cannot be reached, in the words of the connection that failed last. */
function startFailure(error: unknown, fault: Error | undefined): unknown {
  if (!(error instanceof Error)) return error;
  const isAway = CodelanesError.is(error) && error.cause instanceof Error;
  const why = notLetIn.test(error.message) ? error : isAway ? fault : undefined;
  return why === undefined
    ? error
    : storeUnavailable(new Error(why.message.replace(/\.$/, ''), { cause: error }));
}

/** Of a cluster what one of its nodes said: that all have failed says nothing. */
function nodeFaultOf(fault: Error): Error {
  return 'lastNodeError' in fault && fault.lastNodeError instanceof Error ? fault.lastNodeError : fault;
}
