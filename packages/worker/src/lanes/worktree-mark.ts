import type { FileIdentity } from '../files/directory.js';
import type { WorktreeIdentity } from './verify.js';

/**
 * Tells a worktree from every other, the one before it that bore its name included: device and inode of its tree and
 * of its metadata, which may be given out again, and when Git made it.
 */
export function worktreeMark({ worktree, metadata, madeNs }: WorktreeIdentity): string {
  return `${placeOf(worktree)} ${placeOf(metadata)} ${madeNs}`;
}

function placeOf({ dev, ino }: FileIdentity): string {
  return `${dev}:${ino}`;
}
