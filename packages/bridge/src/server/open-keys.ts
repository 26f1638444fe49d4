import type { FastifyBaseLogger } from 'fastify';
import { FetchedKeys } from '../auth/jwt/fetched-keys.js';
import { FileKeys, readKeyFile } from '../auth/jwt/file-keys.js';
import type { KeySource } from '../auth/jwt/key-source.js';
import type { JwtOptions } from './bridge-options.js';
import { keepRenewed } from './kept-renewed.js';

/**
 * Opens the keys that verify callers: of a file, which is looked at every while, or of a URL, which is asked again as
 * its keys change.
 *
 * @param closed Aborted when nobody looks for keys any more.
 * @throws Error where the file cannot be used; a URL may become reachable later, and the log says so.
 */
export async function openKeys(
  { keys: location, checkEveryMs: everyMs }: Pick<JwtOptions, 'keys' | 'checkEveryMs'>,
  log: FastifyBaseLogger,
  closed: AbortSignal,
): Promise<KeySource> {
  if ('url' in location) {
    const onFault = (error: Error) => {
      log.warn({ err: error }, 'callers with a signed token are not let in until their keys can be loaded');
    };
    const fetched = new FetchedKeys(location.url, { onFault });
    await fetched.refresh();
    return fetched;
  }
  const read = () => readKeyFile(location.file);
  const present = await read();
  const keys = new FileKeys(present);
  const end = keepRenewed({
    read,
    isSame: (one, other) => one.text === other.text,
    everyMs,
    present,
    onRenewed: (renewed) => {
      keys.replace(renewed);
      log.info('the keys of callers were renewed');
    },
    onFault: (error) => {
      log.warn({ err: error }, 'the renewed keys of callers cannot be used; those before go on to count');
    },
  });
  closed.addEventListener('abort', end, { once: true });
  return keys;
}
