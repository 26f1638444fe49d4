/** Mode of an entry that names a commit of another repository. */
const gitlinkMode = 0o160000;
const headerBytes = 12;
/** What stands before the name: stat data, mode, object name of the given length, flags. */
const statBytes = 40;

/**
 * The paths of the gitlinks (submodules) in a Git index, read without Git. `undefined` where the file is none
 * that this reader knows: damaged, cut off, or of a version after 4. Never reads beyond what it was given.
 *
 * @param hashBytes 20 for SHA-1 repositories, 32 for SHA-256.
 */
export function gitlinksOf(index: Buffer, hashBytes: 20 | 32): string[] | undefined {
  if (index.length < headerBytes || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  const links: string[] = [];
  let name = Buffer.alloc(0);
  let at = headerBytes;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + statBytes + hashBytes;
    if (flagsAt + 4 > index.length) return undefined;
    const extended = (index.readUInt16BE(flagsAt) & 0x4000) !== 0;
    const nameAt = flagsAt + (extended ? 4 : 2);
    const entry = version === 4 ? compressedName(index, nameAt, name) : plainName(index, nameAt, at);
    if (entry === undefined) return undefined;
    if (index.readUInt32BE(at + 24) === gitlinkMode) links.push(entry.name.toString());
    name = entry.name;
    at = entry.next;
  }
  return links;
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
