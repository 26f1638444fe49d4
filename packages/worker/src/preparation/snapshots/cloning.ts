import { closeSync, constants, copyFileSync, unlinkSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { segmentsOf, type Directory } from '../../files/directory.js';

/** Whether files of a root can be cloned into a store and, where they can, when the file system says that it is now. */
export type CloningTrial =
  { readonly can: true; readonly now: bigint } | { readonly can: false; readonly sentence: string };

/**
 * Tries to clone a file of a root into a store. Both must be on one file system that can share blocks among files;
 * only a trial tells, as subvolumes of one differ in their device.
 *
 * @param input a regular file of the root.
 * @throws {FileRefusal} where there is no such file.
 */
export function tryCloning(top: Directory, input: string, store: Directory): CloningTrial {
  const segments = segmentsOf(input);
  const folder = top.walk(segments.slice(0, -1));
  try {
    const source = folder.entry(segments.at(-1) ?? '');
    try {
      return cloneOnce(source.fd, top, store);
    } finally {
      closeSync(source.fd);
    }
  } finally {
    folder.close();
  }
}

function cloneOnce(fd: number, top: Directory, store: Directory): CloningTrial {
  const name = `.clone-test-${randomBytes(8).toString('hex')}`;
  try {
    const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE;
    copyFileSync(`/proc/self/fd/${fd}`, store.place(name), flags);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const sentence = `Files of "${top.path()}" cannot be cloned into "${store.path()}": both must lie on one file system that can, as Btrfs and XFS can.`;
    return { can: false, sentence };
  }
  const made = store.look(name)?.stats.birthtimeNs;
  unlinkSync(store.place(name));
  // Without a time of birth everything counts as older, and nothing is kept.
  return { can: true, now: made ?? BigInt(Number.MAX_SAFE_INTEGER) ** 2n };
}
