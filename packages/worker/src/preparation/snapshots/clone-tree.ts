import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lutimesSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  type BigIntStats,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Directory, sameFile, segmentsOf, type Entry } from '../../files/directory.js';
import { holdsGitSegment } from '../../files/git-path.js';
import { mayLeaveRoot } from './link-rule.js';
import { makeFolder } from './make-folder.js';
import { namesOf } from './names-of.js';
import { SnapshotRefusal } from './snapshot-refusal.js';
import type { TreeTally } from './tree-tally.js';

/** Descriptors are held for each folder on the way down. */
const mostDepth = 128;
/** Entries between two looks at the signal. */
const atOnce = 128;

export interface CloneSetting {
  readonly tally: TreeTally;
  readonly signal: AbortSignal;
  /** Nothing that the file system made earlier is taken, in nanoseconds since 1970. */
  readonly bornSince?: bigint | undefined;
}

/** One folder of the tree and where it is copied to; `path` is relative to the root. */
interface Place {
  readonly source: Directory;
  readonly target: Directory;
  readonly path: string;
}

/**
 * Copies all that is in one folder into another, which is empty and which nobody else writes: files as clones that share
 * their blocks until one of the two is written, never a copy of bytes and never a second name. Times and modes are
 * kept, but for set-id bits; a folder stays open to its owner. Every name is opened without following it, and what is
 * opened is what is copied: one that is exchanged meanwhile leads nowhere else.
 *
 * @param path where the folder lies beneath the root, on both sides.
 * @throws {SnapshotRefusal} for what no snapshot holds: hard links, links that may leave the root, devices and sockets,
 *   Git's own storage, other users' files, other file systems; and for what changes meanwhile. Part of it may be copied.
 */
export async function cloneTree(
  source: Directory,
  target: Directory,
  path: string,
  setting: CloneSetting,
): Promise<void> {
  if (segmentsOf(path).length > mostDepth) throw refusal(path, `lies more than ${mostDepth} folders deep`);
  const { names, complete } = namesOf(source, setting.tally.room);
  if (!complete) throw setting.tally.tooMany();
  // In code units: the digest depends on the order, and no locale may.
  for (const name of [...names].sort()) {
    if (setting.tally.entries % atOnce === 0) await setImmediate();
    setting.signal.throwIfAborted();
    await cloneEntry({ source, target, path: `${path}/${name}` }, source.entry(name), setting);
  }
  const self = `/proc/self/fd/${target.fd}`;
  chmodSync(self, folderMode(source.stats));
  utimesSync(self, ...timesOf(source.stats));
}

async function cloneEntry(place: Place, entry: Entry, setting: CloneSetting): Promise<void> {
  if (entry.kind === 'directory') {
    const source = Directory.of(entry);
    try {
      refuseForeign(place, entry, setting);
      await cloneFolder({ ...place, source }, entry.name, setting);
    } finally {
      source.close();
    }
    return;
  }
  try {
    refuseForeign(place, entry, setting);
    if (entry.kind === 'file') cloneFile(place, entry, setting.tally);
    else if (entry.kind === 'symlink') copyLink(place, entry, setting.tally);
    else throw refusal(place.path, 'is no file, folder or link');
  } finally {
    closeSync(entry.fd);
  }
}

function refuseForeign(
  { source, path }: Place,
  { name, stats }: Entry,
  { bornSince = 0n }: CloneSetting,
): void {
  if (holdsGitSegment(name)) throw refusal(path, "belongs to Git's own storage");
  if (stats.dev !== source.stats.dev) throw refusal(path, 'lies on another file system');
  if (Number(stats.uid) !== process.getuid?.()) throw refusal(path, 'belongs to another user');
  if (stats.birthtimeNs < bornSince) {
    throw refusal(path, 'was there before the setup, which is to begin anew, as "npm ci" does');
  }
}

async function cloneFolder(
  { source, target, path }: Place,
  name: string,
  setting: CloneSetting,
): Promise<void> {
  setting.tally.add({ kind: 'folder', path, mode: folderMode(source.stats) });
  const inner = makeFolder(target, name);
  try {
    await cloneTree(source, inner, path, setting);
  } finally {
    inner.close();
  }
}

function cloneFile({ target, path }: Place, { fd, name, stats }: Entry, tally: TreeTally): void {
  if (stats.nlink !== 1n) throw refusal(path, 'has a second name (a hard link)');
  const mode = Number(stats.mode & 0o777n);
  tally.add({ kind: 'file', path, mode, size: Number(stats.size) });
  const place = target.place(name);
  copyFileSync(`/proc/self/fd/${fd}`, place, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
  if ((stats.mode & 0o7000n) !== 0n) chmodSync(place, mode);
  lutimesSync(place, ...timesOf(stats));
  const now = fstatSync(fd, { bigint: true });
  if (now.size !== stats.size || now.mtimeNs !== stats.mtimeNs || now.ctimeNs !== stats.ctimeNs) {
    throw refusal(path, 'changed while it was copied');
  }
}

function copyLink({ source, target, path }: Place, { name, stats }: Entry, tally: TreeTally): void {
  const leadsTo = readlinkSync(source.place(name));
  if (mayLeaveRoot(path, leadsTo)) throw refusal(path, 'is a symbolic link that may leave the root');
  const now = source.look(name);
  if (now === undefined || !sameFile(now.stats, stats)) throw refusal(path, 'changed while it was copied');
  tally.add({ kind: 'link', path, target: leadsTo });
  const place = target.place(name);
  symlinkSync(leadsTo, place);
  lutimesSync(place, ...timesOf(stats));
}

/** A folder that its owner may not write could not be removed again. */
function folderMode({ mode }: BigIntStats): number {
  return Number(mode & 0o777n) | 0o700;
}

/** Seconds, to the microseconds that a number of them can tell. */
function timesOf({ atimeNs, mtimeNs }: BigIntStats): [number, number] {
  return [Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9];
}

function refusal(path: string, words: string): SnapshotRefusal {
  return new SnapshotRefusal(`"${path}" ${words}.`);
}
