import { CodelanesError } from '@codelanes/protocol';
import { clearIndexLock } from '../sandbox/index-lock.js';
import { reopenLane } from './opened-lane.js';
import type { ServedRoot } from './served-root.js';

/**
 * Removes the `index.lock` that a Git left in a lane when it was killed together with its worker. Only when
 * nothing runs in the lane: while one does, the lock may be its own.
 */
export function clearStaleLock(root: ServedRoot, lane: readonly string[]): void {
  try {
    const opened = reopenLane(root, lane);
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
