import { isUtf8 } from 'node:buffer';
import { splitOf, type HashBytes, type Split } from './split-index.js';

/** Mode of an entry that names a commit of another repository. */
const gitlinkMode = 0o160000;
const headerBytes = 12;
/** What stands before the name: stat data, mode, object name of the given length, flags. */
const statBytes = 40;

/** The bytes of the shared index with this hash in its name, or `undefined` where it cannot be had. */
export type SharedIndex = (hash: string) => Buffer | undefined;

/** One file of an index. */
export interface IndexEntry {
  /** Relative to the top of the working tree. */
  readonly name: string;
  /** Whether it is a commit of another repository: a submodule. */
  readonly isGitlink: boolean;
}

/**
 * The paths in a Git index that are asked for, read without Git. `undefined` where not all of it is known to this
 * reader: damaged, cut off, of a version after 4, split off a shared index that cannot be had, or with a gitlink
 * whose path is no text. Never reads beyond what it was given.
 *
 * @param hashBytes 20 for SHA-1 repositories, 32 for SHA-256.
 */
export function findEntries(
  index: Buffer,
  hashBytes: HashBytes,
  isWanted: (entry: IndexEntry) => boolean,
  sharedIndex: SharedIndex = () => undefined,
): string[] | undefined {
  const found: string[] = [];
  const end = readEntries(index, hashBytes, (entry) => {
    if (isWanted(entry)) found.push(entry.name);
  });
  const split = end === undefined ? undefined : splitOf(index, end, hashBytes);
  if (split === undefined) return undefined;
  if (split === 'whole') return found;
  const base = sharedIndex(split.base);
  return base === undefined ? undefined : findInBoth(index, base, split, { hashBytes, isWanted });
}

/** An index that is split off holds what it replaces in the shared one first, in its order, then what it adds. */
function findInBoth(
  index: Buffer,
  base: Buffer,
  { replaced, deleted }: Split,
  { hashBytes, isWanted }: { hashBytes: HashBytes; isWanted: (entry: IndexEntry) => boolean },
): string[] | undefined {
  const own: IndexEntry[] = [];
  readEntries(index, hashBytes, (entry) => own.push(entry));
  const found: string[] = [];
  let position = 0;
  let replacements = 0;
  const end = readEntries(base, hashBytes, ({ name, isGitlink }) => {
    const now = replaced.has(position) ? own[replacements++]?.isGitlink === true : isGitlink;
    if (!deleted.has(position) && isWanted({ name, isGitlink: now })) found.push(name);
    position += 1;
  });
  if (end === undefined) return undefined;
  for (const entry of own.slice(replacements)) if (isWanted(entry)) found.push(entry.name);
  return found;
}

/** Hands over each entry and returns where they end. */
function readEntries(
  index: Buffer,
  hashBytes: HashBytes,
  onEntry: (entry: IndexEntry) => void,
): number | undefined {
  if (index.length < headerBytes || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  let name = Buffer.alloc(0);
  let at = headerBytes;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + statBytes + hashBytes;
    if (flagsAt + 4 > index.length) return undefined;
    const extended = (index.readUInt16BE(flagsAt) & 0x4000) !== 0;
    const nameAt = flagsAt + (extended ? 4 : 2);
    const entry = version === 4 ? compressedName(index, nameAt, name) : plainName(index, nameAt, at);
    if (entry === undefined) return undefined;
    const isGitlink = index.readUInt32BE(at + 24) === gitlinkMode;
    if (isGitlink && !isUtf8(entry.name)) return undefined;
    onEntry({ name: entry.name.toString(), isGitlink });
    name = entry.name;
    at = entry.next;
  }
  return at;
}

interface EntryName {
  readonly name: Buffer<ArrayBuffer>;
  readonly next: number;
}

/** Versions 2 and 3: the name, then NULs up to a multiple of eight from the entry's start. */
function plainName(index: Buffer, nameAt: number, entryAt: number): EntryName | undefined {
  const end = index.indexOf(0, nameAt);
  if (end < 0) return undefined;
  return {
    name: Buffer.from(index.subarray(nameAt, end)),
    next: entryAt + Math.ceil((end + 1 - entryAt) / 8) * 8,
  };
}

/** Version 4: how much of the previous name's end is dropped, then what is put there. */
function compressedName(index: Buffer, nameAt: number, previous: Buffer): EntryName | undefined {
  let at = nameAt;
  let dropped = 0;
  for (let first = true; ; first = false) {
    const byte = index[at];
    if (byte === undefined || dropped > previous.length) return undefined;
    at += 1;
    dropped = (first ? 0 : (dropped + 1) * 128) + (byte & 0x7f);
    if ((byte & 0x80) === 0) break;
  }
  const end = index.indexOf(0, at);
  if (end < 0 || dropped > previous.length) return undefined;
  const kept = previous.subarray(0, previous.length - dropped);
  return { name: Buffer.concat([kept, index.subarray(at, end)]), next: end + 1 };
}
