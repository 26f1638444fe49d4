import { closeSync, constants, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { RootError } from '../environment/roots.js';
import type { FileIdentity } from '../files/directory.js';
import { LockingFailed, tryLock } from '../files/file-lock.js';

const holderSchema = z.object({ pid: z.int().positive() });

/**
 * The right of one worker to one root, by the root's device and inode, so that two paths to one folder are one
 * root. The kernel frees it when the worker ends, however it ends; sandboxes never inherit it.
 */
export class RootLock {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /**
   * Takes the lock of a root. Nothing waits: a root that another worker holds is refused.
   *
   * @throws {RootError} naming the pid of the holder.
   */
  static take(stateFolder: string, root: FileIdentity, shownPath: string): RootLock {
    const folder = join(stateFolder, 'locks');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, rootKey(root));
    const fd = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      lock(fd, file, shownPath);
      ftruncateSync(fd);
      writeSync(fd, `${JSON.stringify({ pid: process.pid })}\n`, 0);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    return new RootLock(fd);
  }

  /** Another worker may take the root from now on. */
  close(): void {
    closeSync(this.#fd);
  }
}

/** A root's name among files of the worker's state. */
export function rootKey(root: FileIdentity): string {
  return `${root.dev}-${root.ino}`;
}

function lock(fd: number, file: string, shownPath: string): void {
  try {
    if (tryLock(fd)) return;
  } catch (error) {
    if (!(error instanceof LockingFailed)) throw error;
    throw new RootError(`The worker cannot lock "${shownPath}", since ${error.message}`, { cause: error });
  }
  const holder = holderOf(file);
  throw new RootError(
    `Another worker${holder === undefined ? '' : ` (pid ${holder})`} serves "${shownPath}": stop it first, or give this one another root.`,
  );
}

function holderOf(file: string): number | undefined {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).pid;
  } catch {
    // The holder has the lock and has not yet written who it is.
    return undefined;
  }
}
