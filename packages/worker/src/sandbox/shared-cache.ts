import { lstatSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { CodelanesError } from '@codelanes/protocol';
import { findPrivate } from '../environment/private-path.js';
import { RootError } from '../environment/roots.js';
import type { Resource } from '../environment/storage.js';
import { UntrustedPath } from '../environment/trusted-path.js';
import { Directory, identityOf, sameFile, type FileIdentity } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import type { Pins } from './pins.js';
import type { Mount } from './policy.js';

/** A folder of the machine that the commands of an environment share, as the worker found it at its start. */
export interface SharedCache {
  readonly kind: Resource['kind'];
  readonly access: Resource['access'];
  /** Canonical; it has the same name in the sandbox. */
  readonly path: string;
  readonly identity: FileIdentity;
}

const variables: Record<Resource['kind'], string> = {
  'npm-cache': 'npm_config_cache',
  'uv-cache': 'UV_CACHE_DIR',
  'playwright-browsers': 'PLAYWRIGHT_BROWSERS_PATH',
};

/**
 * Finds a cache that a definition names: a folder of this user's alone, no link, reached by trusted places.
 *
 * @throws {RootError}
 */
export function findSharedCache({ kind, access, path }: Resource): SharedCache {
  try {
    const { canonical } = findPrivate(path, 'folder');
    return { kind, access, path: canonical, identity: identityOf(lstatSync(canonical, { bigint: true })) };
  } catch (error) {
    if (!(error instanceof UntrustedPath)) throw error;
    throw new RootError(`The ${kind} cannot be used. ${error.message}`, { cause: error });
  }
}

/**
 * Opens the caches for one command, which mounts what was opened and nothing that is exchanged afterwards.
 *
 * @throws {CodelanesError} `COMMAND_UNAVAILABLE` where one is not the folder that the worker found, or is open to others.
 */
export function pinSharedCaches(pins: Pins, caches: readonly SharedCache[]): void {
  for (const cache of caches) pins.hold(pinOf(cache), opened(cache).fd);
}

function opened({ kind, path, identity }: SharedCache): Directory {
  let folder: Directory;
  try {
    const parent = Directory.open(dirname(path));
    try {
      folder = parent.child(basename(path));
    } finally {
      parent.close();
    }
  } catch (error) {
    if (error instanceof FileRefusal) throw replaced(kind, error);
    throw error;
  }
  const { uid, mode } = folder.stats;
  const isPrivate = (mode & 0o077n) === 0n && Number(uid) === process.getuid?.();
  if (isPrivate && sameFile(folder.stats, identity)) return folder;
  folder.close();
  throw replaced(kind);
}

function replaced(kind: Resource['kind'], cause?: unknown): CodelanesError {
  return new CodelanesError(
    'COMMAND_UNAVAILABLE',
    `The ${kind} of this environment is not the private folder with which the worker started: its operator has to put it back (mode 0700) or to start the worker again.`,
    { cause },
  );
}

/** Where a sandbox shows the caches. */
export function cacheMounts(caches: readonly SharedCache[]): Mount[] {
  return caches.map((cache) => ({
    kind: cache.access === 'read-write' ? 'writable' : 'readable',
    path: cache.path,
    source: { from: 'descriptor', name: pinOf(cache) },
  }));
}

/** By which variables the tools find them. */
export function cacheVariables(caches: readonly SharedCache[]): Record<string, string> {
  return Object.fromEntries(caches.map(({ kind, path }) => [variables[kind], path]));
}

function pinOf({ kind }: SharedCache): string {
  return `cache ${kind}`;
}
