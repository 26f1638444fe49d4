import { CodelanesError } from '@codelanes/protocol';
import { clearIndexLock } from '../sandbox/index-lock.js';
import { openLane } from './opened-lane.js';
import type { ServedRoot } from './served-root.js';
import { repositoriesBeneath } from './served-tree.js';

/**
 * Removes the `index.lock` that a Git left in a lane, or in a repository beneath it, when it was killed together
 * with its worker. Only when nothing runs in the lane: while one does, the lock may be its own.
 */
export function clearStaleLock(root: ServedRoot, lane: readonly string[]): void {
  for (const each of [lane, ...repositoriesBeneath(root, lane).map((tree) => tree.lane)]) {
    clearLockIn(root, each);
  }
}

function clearLockIn(root: ServedRoot, lane: readonly string[]): void {
  try {
    const opened = openLane(root, lane);
    try {
      if (opened.gitDescriptor !== undefined) clearIndexLock(opened.gitDescriptor);
    } finally {
      opened.close();
    }
  } catch (error) {
    // A lane that does not verify any more is not to be touched.
    if (!CodelanesError.is(error)) throw error;
  }
}
