import { closeSync, constants, copyFileSync, unlinkSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { segmentsOf, type Directory } from '../../files/directory.js';

/** A clone takes tens of microseconds, and a tick ten milliseconds at most. */
const mostTries = 10_000;

/**
 * Whether files of a root can be cloned into a store and, where they can, a moment of the file system's clock: what was
 * there before the trial was born earlier, and what is made after it was not.
 */
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
  try {
    return { can: true, now: nextBirth(() => bornClone(fd, store)) };
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const sentence = `Files of "${top.path()}" cannot be cloned into "${store.path()}": both must lie on one file system that can, as Btrfs and XFS can.`;
    return { can: false, sentence };
  }
}

/** When a clone that is made now, and removed again, is born. */
function bornClone(fd: number, store: Directory): bigint {
  const name = `.clone-test-${randomBytes(8).toString('hex')}`;
  const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE;
  copyFileSync(`/proc/self/fd/${fd}`, store.place(name), flags);
  const born = store.look(name)?.stats.birthtimeNs;
  unlinkSync(store.place(name));
  return born ?? 0n;
}

/**
 * The clock of births goes by ticks of some milliseconds, and what was made within the present one looks no older than
 * what is made later. So the next tick is waited for.
 */
function nextBirth(bornNow: () => bigint): bigint {
  const first = bornNow();
  for (let tries = 0; first > 0n && tries < mostTries; tries += 1) {
    const born = bornNow();
    if (born > first) return born;
  }
  // Without a clock that goes on everything counts as older, and nothing is kept.
  return BigInt(Number.MAX_SAFE_INTEGER) ** 2n;
}
