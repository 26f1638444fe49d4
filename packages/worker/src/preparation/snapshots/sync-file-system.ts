import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Directory } from '../../files/directory.js';
import { SnapshotRefusal } from './snapshot-refusal.js';

/** Resolves when all that was written to the file system of a folder survives a crash, as no call of Node's makes sure. */
export async function syncFileSystem(folder: Directory): Promise<void> {
  const sync = spawn('sync', ['--file-system', '/proc/self/fd/3'], {
    stdio: ['ignore', 'ignore', 'ignore', folder.fd],
  });
  try {
    const exit: unknown[] = await once(sync, 'exit');
    if (exit[0] === 0) return;
  } catch (error) {
    throw new SnapshotRefusal('The file system cannot be synced: sync does not run; install coreutils.', {
      cause: error,
    });
  }
  throw new SnapshotRefusal(`The file system of "${folder.path()}" could not be synced.`);
}
