import { createHash } from 'node:crypto';
import type { RepositorySetup } from '../environment/setup.js';
import type { FileIdentity } from '../files/directory.js';
import type { WorktreeIdentity } from '../lanes/verify.js';

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

/** Tells one definition of a setup from another: SHA-256 in hex. */
export function setupHash({ command, timeoutMs, idleTimeoutMs, copy = [] }: RepositorySetup): string {
  const text = JSON.stringify({ command, timeoutMs, idleTimeoutMs, copy });
  return createHash('sha256').update(text).digest('hex');
}
