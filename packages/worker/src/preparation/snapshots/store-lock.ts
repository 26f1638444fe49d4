import { closeSync, constants, fstatSync, openSync, unlinkSync } from 'node:fs';
import { sameFile, type Directory } from '../../files/directory.js';
import { tryLock, waitForLock } from '../../files/file-lock.js';
import { isPrivateFile } from '../private-file.js';
import { SnapshotRefusal } from './snapshot-refusal.js';

/** The right of one process to one thing in a store, by the lock on a file there. The kernel frees it with the process. */
export class StoreLock {
  readonly #fd: number;
  readonly #place: string;

  private constructor(fd: number, place: string) {
    this.#fd = fd;
    this.#place = place;
  }

  /**
   * Waits until the lock is free.
   *
   * @throws {SnapshotRefusal} where its file is none of this user's alone.
   * @throws the reason of `signal`.
   */
  static async take(folder: Directory, name: string, signal: AbortSignal): Promise<StoreLock> {
    for (;;) {
      const fd = openLock(folder, name);
      try {
        await waitForLock(fd, signal);
      } catch (error) {
        closeSync(fd);
        throw error;
      }
      if (isNamed(fd, folder, name)) return new StoreLock(fd, folder.place(name));
      // Its last holder removed it; the next file of this name is another lock.
      closeSync(fd);
    }
  }

  /** `undefined` where somebody holds it. */
  static tryTake(folder: Directory, name: string): StoreLock | undefined {
    const fd = openLock(folder, name);
    if (tryLock(fd) && isNamed(fd, folder, name)) return new StoreLock(fd, folder.place(name));
    closeSync(fd);
    return undefined;
  }

  /** Removes its file and gives it up. Whoever waits for it takes the next file of this name. */
  discard(): void {
    unlinkSync(this.#place);
    this.close();
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function openLock(folder: Directory, name: string): number {
  const fd = openSync(
    folder.place(name),
    constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    0o600,
  );
  if (isPrivateFile(fstatSync(fd, { bigint: true }))) return fd;
  closeSync(fd);
  throw new SnapshotRefusal(`The lock "${folder.path()}/${name}" is no plain file of this user's alone.`);
}

function isNamed(fd: number, folder: Directory, name: string): boolean {
  const named = folder.look(name);
  return named !== undefined && sameFile(named.stats, fstatSync(fd, { bigint: true }));
}
