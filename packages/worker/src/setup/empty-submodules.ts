import type { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import { findIndexed } from '../git/index-file.js';
import { hashBytesOf } from '../git/split-index.js';
import { readPlace, textOf } from '../sandbox/audit/place.js';

/** The top of a working tree, the Git directory that holds its index, and the one that holds the configuration. */
export interface IndexedTree {
  readonly top: Directory;
  readonly git: Directory;
  readonly common: Directory;
}

/**
 * Paths of the submodules of a tree in whose folder there is nothing: Git leaves them so in a new worktree, and takes a
 * command in such a folder for one about the tree around it. Follows no link, starts no Git; costs one look where the
 * tree declares no submodules.
 */
export function emptySubmodules({ top, git, common }: IndexedTree): readonly string[] {
  if (top.look('.gitmodules') === undefined) return [];
  const hashBytes = hashBytesOf(textOf(readPlace(common, ['config'])) ?? '');
  const submodules = findIndexed(git, hashBytes, ({ isGitlink }) => isGitlink) ?? [];
  return submodules.filter((path) => isEmpty(top, path));
}

function isEmpty(top: Directory, path: string): boolean {
  let folder: Directory | undefined;
  try {
    folder = top.walk(path.split('/'));
    return folder.list().length === 0;
  } catch (error) {
    if (error instanceof FileRefusal) return error.fault === 'not_found';
    throw error;
  } finally {
    folder?.close();
  }
}
