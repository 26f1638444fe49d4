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

/** How connections that have died without a word are found out, in milliseconds. */
export interface SilenceTimes {
  /** Longer than any Redis that lives takes for an answer: one that stands still counts as lost after it. */
  readonly silentMs: number;
  /** How often the connection that only listens is asked for an answer. */
  readonly askedEveryMs: number;
}
const usualTimes: SilenceTimes = { silentMs: 10_000, askedEveryMs: 30_000 };
/** How often a cluster is asked which node has what: one that was replaced while it stood still tells nobody. */
const nodesAskedMs = 5_000;

const optionsFor = ({ silentMs }: SilenceTimes) =>
  ({
    // Under two seconds in all: longer than a restart takes, shorter than a caller's patience.
    maxRetriesPerRequest: 10,
    // After a failover the old address may be a replica for a while: connect anew and send again.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
    // ioredis drops the promise of its own subscribing, whose rejection would end the process: see Wakes.
    autoResubscribe: false,
    // One that loads its data says for how long it will: see Restarts, who waits for nobody that long.
    maxLoadingRetryTime: 250,
    commandTimeout: silentMs,
    socketTimeout: silentMs,
  }) satisfies RedisOptions;

/**
 * Connects at the first command; what a lost connection says is told, as commands reject by themselves. Every command
 * is over after `silentMs` at the latest, and a connection that answers nothing for so long is made anew: a Redis may
 * stand still, or be gone without a word.
 */
export function connectRedis(
  address: RedisAddress,
  onError: (error: Error) => void,
  times: SilenceTimes = usualTimes,
): RedisConnections {
  const options = optionsFor(times);
  const commands = open(address, options);
  const subscriber = open(address, options);
  for (const client of [commands, subscriber]) client.on('error', onError);
  const asking = setInterval(() => {
    // A cluster looks at its nodes by itself.
    if (subscriber.status === 'ready' && !subscriber.isCluster) subscriber.ping().catch(ignore);
  }, times.askedEveryMs).unref();
  return {
    commands,
    subscriber,
    close: () => {
      clearInterval(asking);
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

function ignore(): void {
  // What matters is that the connection is made anew.
}
