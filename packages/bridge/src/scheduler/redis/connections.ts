import { Cluster, Redis, type RedisOptions } from 'ioredis';

export type RedisClient = Redis | Cluster;

/** One Redis by its URL (`redis://`, `rediss://`), or the URLs of some nodes of a Redis Cluster. */
export type RedisAddress = { readonly url: string } | { readonly clusterUrls: readonly string[] };

/**
 * The connections of one process: one for commands and one that only listens. Both connect again by themselves;
 * a command that was on its way is sent again then, so every script must bear to run twice.
 */
export interface RedisConnections {
  readonly commands: RedisClient;
  readonly subscriber: RedisClient;
  close(): void;
}

const retryDelayMs = (attempt: number): number => Math.min(25 * attempt, 500);

/** As long as no Redis that lives takes for an answer: one that stands still counts as lost after it. */
const silentMs = 10_000;
/** How often a cluster is asked which node has what: one that was replaced while it stood still tells nobody. */
const nodesAskedMs = 5_000;

const optionsFor = (silenceMs: number) =>
  ({
    // Under two seconds in all: longer than a restart takes, shorter than a caller's patience.
    maxRetriesPerRequest: 10,
    // After a failover the old address may be a replica for a while: connect anew and send again.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
    // ioredis drops the promise of its own subscribing, whose rejection would end the process: see Wakes.
    autoResubscribe: false,
    // One that loads its data says for how long it will: see Restarts, who waits for nobody that long.
    maxLoadingRetryTime: 250,
    commandTimeout: silenceMs,
    socketTimeout: silenceMs,
  }) satisfies RedisOptions;

/**
 * Connects at the first command; what a lost connection says is told, as commands reject by themselves. Every command
 * is over after `silenceMs` at the latest, and a connection that says nothing for so long is made anew: a Redis may
 * stand still, or be gone without a word.
 */
export function connectRedis(
  address: RedisAddress,
  onError: (error: Error) => void,
  silenceMs = silentMs,
): RedisConnections {
  const options = optionsFor(silenceMs);
  const commands = open(address, options);
  const subscriber = open(address, options);
  for (const client of [commands, subscriber]) client.on('error', onError);
  return {
    commands,
    subscriber,
    close: () => {
      commands.disconnect();
      subscriber.disconnect();
    },
  };
}

export function isCluster(client: RedisClient): client is Cluster {
  return client instanceof Cluster;
}

function open(address: RedisAddress, options: ReturnType<typeof optionsFor>): RedisClient {
  if ('url' in address) {
    return new Redis(address.url, { ...options, lazyConnect: true, retryStrategy: retryDelayMs });
  }
  return new Cluster([...address.clusterUrls], {
    lazyConnect: true,
    clusterRetryStrategy: retryDelayMs,
    slotsRefreshInterval: nodesAskedMs,
    redisOptions: options,
  });
}
