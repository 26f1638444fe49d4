import { CliError } from '../errors/cli-error.js';

export interface StoreFlags {
  readonly store: 'memory' | 'redis';
  readonly redisUrl?: string;
  readonly redisPrefix?: string;
}

/**
 * The store that the flags name; several addresses with commas between them are nodes of a cluster. A URL may hold a password, so that it can also come from the environment, which
 * other users of the machine do not see.
 *
 * @throws CliError where flags contradict each other, or nothing says which Redis is meant.
 */
export function storeChoiceOf(
  { store, redisUrl, redisPrefix }: StoreFlags,
  environment: NodeJS.ProcessEnv = process.env,
) {
  if (store === 'memory') {
    if (redisUrl === undefined && redisPrefix === undefined) return { kind: store };
    throw new CliError('A bridge with its store in memory uses no Redis.', 'Add --store redis.');
  }
  const url = redisUrl ?? environment['CODELANES_REDIS_URL'];
  if (url !== undefined) {
    const [only = url, ...nodes] = url.split(',');
    const address = nodes.length === 0 ? only : [only, ...nodes];
    return { kind: store, url: address, ...(redisPrefix === undefined ? {} : { prefix: redisPrefix }) };
  }
  throw new CliError(
    'The bridge is to keep what it knows in Redis, and was not told in which one.',
    'Give --redis-url, or set CODELANES_REDIS_URL.',
  );
}
