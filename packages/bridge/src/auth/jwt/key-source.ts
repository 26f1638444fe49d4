import { readFile } from 'node:fs/promises';
import type { VerificationKey } from './verification-keys.js';
import { FetchedKeys } from './fetched-keys.js';
import { keyFor, parseVerificationKeys } from './verification-keys.js';

/** Where the keys that verify callers come from. */
export type KeyLocation = { readonly file: string } | { readonly url: string };

/** The keys that verify callers, as they are now. */
export interface KeySource {
  /**
   * The key that a token with that id was signed with, if any.
   *
   * @throws CodelanesError `SIGNING_KEYS_UNAVAILABLE`
   */
  find(keyId: string | undefined): VerificationKey | undefined | Promise<VerificationKey | undefined>;
}

/**
 * Opens a file once, for good, or a URL, which is asked again as its keys change.
 *
 * @throws Error where the file cannot be used; a URL may become reachable later, which `onFault` tells.
 */
export async function openKeySource(
  location: KeyLocation,
  onFault: (error: Error) => void,
): Promise<KeySource> {
  if ('url' in location) {
    const keys = new FetchedKeys(location.url, { onFault });
    await keys.refresh();
    return keys;
  }
  const keys = await keysOfFile(location.file);
  return { find: (keyId) => keyFor(keys, keyId) };
}

async function keysOfFile(file: string): Promise<readonly VerificationKey[]> {
  try {
    return parseVerificationKeys(await readFile(file, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The key file ${file} cannot be used: ${why}.`, { cause: error });
  }
}
