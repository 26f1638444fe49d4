import { unlinkSync } from 'node:fs';
import { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';

/** Whether Git holds, or has left, the index lock of this Git directory. */
export function hasIndexLock(gitDirectory: number): boolean {
  const directory = Directory.open(`/proc/self/fd/${gitDirectory}`);
  try {
    return directory.list().some((entry) => entry.name === 'index.lock');
  } finally {
    directory.close();
  }
}

/**
 * Removes the `index.lock` that a killed Git left in a lane's own Git directory; true if there was one that could be
 * removed. Call it only when every process of the lane's call is gone. Only a regular file of that very name is
 * removed, and nothing on the way is followed.
 *
 * @param gitDirectory a descriptor of the lane's Git directory: a worktree's metadata folder, or a checkout's `.git`.
 */
export function clearIndexLock(gitDirectory: number): boolean {
  const directory = Directory.open(`/proc/self/fd/${gitDirectory}`);
  try {
    const lock = directory.list().find((entry) => entry.name === 'index.lock');
    if (lock?.kind !== 'file') return false;
    unlinkSync(directory.place('index.lock'));
    return true;
  } catch (error) {
    // Removed meanwhile, or closed to the worker by the very command.
    if (error instanceof FileRefusal) return false;
    throw error;
  } finally {
    directory.close();
  }
}
