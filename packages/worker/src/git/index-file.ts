import { closeSync, readFileSync } from 'node:fs';
import type { Directory } from '../files/directory.js';
import { FileRefusal, refusalOf } from '../files/refusal.js';
import { findEntries, type IndexEntry } from './index-entries.js';
import type { HashBytes } from './split-index.js';

/** An index larger than this is not looked through, in bytes. */
const readableIndexBytes = 512n * 1024n * 1024n;

/**
 * The paths that the index in a Git directory has of those that are wanted; none where there is no index, and
 * `undefined` where it cannot be read to its end. Follows no link, starts no Git.
 *
 * @param git the checkout's Git directory, or the metadata of a worktree.
 */
export function findIndexed(
  git: Directory,
  hashBytes: HashBytes,
  isWanted: (entry: IndexEntry) => boolean,
): string[] | undefined {
  const index = readIndex(git, 'index');
  if (index === 'missing') return [];
  if (index === undefined) return undefined;
  return findEntries(index, hashBytes, isWanted, (hash) => {
    const shared = readIndex(git, `sharedindex.${hash}`);
    return shared === 'missing' ? undefined : shared;
  });
}

function readIndex(git: Directory, name: string): Buffer | 'missing' | undefined {
  const entry = git.find(name);
  if (entry === undefined) return 'missing';
  try {
    if (entry.kind !== 'file' || entry.stats.size > readableIndexBytes) return undefined;
    return readFileSync(`/proc/self/fd/${entry.fd}`);
  } catch (error) {
    // Closed to the worker.
    if (refusalOf(error, name) instanceof FileRefusal) return undefined;
    throw error;
  } finally {
    closeSync(entry.fd);
  }
}
