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

const common = {
  // Under two seconds in all: longer than a restart takes, shorter than a caller's patience.
  maxRetriesPerRequest: 10,
  // After a failover the old address may be a replica for a while: connect anew and send again.
  reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
  // ioredis drops the promise of its own subscribing, whose rejection would end the process: see Wakes.
  autoResubscribe: false,
} satisfies RedisOptions;

/** Connects at the first command; what a lost connection says is told, as commands reject by themselves. */
export function connectRedis(address: RedisAddress, onError: (error: Error) => void): RedisConnections {
  const commands = open(address);
  const subscriber = open(address);
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

function open(address: RedisAddress): RedisClient {
  if ('url' in address) {
    return new Redis(address.url, { ...common, lazyConnect: true, retryStrategy: retryDelayMs });
  }
  return new Cluster([...address.clusterUrls], {
    lazyConnect: true,
    clusterRetryStrategy: retryDelayMs,
    redisOptions: common,
  });
}
