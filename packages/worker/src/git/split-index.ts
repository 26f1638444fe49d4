/** Length of an object name: 20 for SHA-1 repositories, 32 for SHA-256. */
export type HashBytes = 20 | 32;

/** What a repository's shared configuration says of it. */
export function hashBytesOf(config: string): HashBytes {
  return /^\s*objectformat\s*=\s*sha256\s*$/imu.test(config) ? 32 : 20;
}

/** What an index says of the shared index that it was split off. */
export interface Split {
  /** The hash in the shared index's name. */
  readonly base: string;
  /** Positions in the shared index whose entries this index replaces, and those that it leaves out. */
  readonly replaced: ReadonlySet<number>;
  readonly deleted: ReadonlySet<number>;
}

/** More entries no index has that this reader is given. */
const mostEntries = 16 * 1024 * 1024;
const bitsPerWord = 64;

/**
 * Whether an index is whole or split off a shared one, by the extensions that follow its entries; `undefined`
 * where they are damaged.
 */
export function splitOf(
  index: Buffer,
  entriesEnd: number,
  hashBytes: HashBytes,
): Split | 'whole' | undefined {
  for (let at = entriesEnd; at + 8 <= index.length - hashBytes;) {
    const end = at + 8 + index.readUInt32BE(at + 4);
    if (end > index.length - hashBytes) return undefined;
    if (index.toString('latin1', at, at + 4) === 'link') {
      return readLink(index.subarray(at + 8, end), hashBytes);
    }
    at = end;
  }
  return 'whole';
}

function readLink(link: Buffer, hashBytes: HashBytes): Split | 'whole' | undefined {
  if (link.length < hashBytes) return undefined;
  const base = link.toString('hex', 0, hashBytes);
  if (/^0+$/u.test(base)) return 'whole';
  if (link.length === hashBytes) return { base, replaced: new Set(), deleted: new Set() };
  const deleted = readBitmap(link, hashBytes);
  const replaced = deleted === undefined ? undefined : readBitmap(link, deleted.next);
  if (deleted === undefined || replaced === undefined) return undefined;
  return { base, deleted: deleted.positions, replaced: replaced.positions };
}

/**
 * The set bits of a compressed bitmap as Git keeps it: sizes, then words of which a marker tells how many of all
 * ones or noughts are left out and how many follow as they are, then the place of the last marker.
 */
function readBitmap(data: Buffer, at: number): { positions: Set<number>; next: number } | undefined {
  if (at + 8 > data.length) return undefined;
  const words = data.readUInt32BE(at + 4);
  const next = at + 8 + words * 8 + 4;
  if (next > data.length) return undefined;
  const wordAt = (word: number): bigint => data.readBigUInt64BE(at + 8 + word * 8);
  const positions = new Set<number>();
  let position = 0;
  for (let word = 0; word < words;) {
    const marker = wordAt(word);
    word += 1;
    const run = Number((marker >> 1n) & 0xffff_ffffn) * bitsPerWord;
    if (position + run > mostEntries) return undefined;
    if ((marker & 1n) === 1n) for (let bit = 0; bit < run; bit += 1) positions.add(position + bit);
    position += run;
    for (let literals = Number(marker >> 33n); literals > 0 && word < words; literals -= 1) {
      addBits(positions, wordAt(word), position);
      word += 1;
      position += bitsPerWord;
    }
  }
  return { positions, next };
}

function addBits(positions: Set<number>, word: bigint, from: number): void {
  for (let bit = 0; bit < bitsPerWord; bit += 1) {
    if (((word >> BigInt(bit)) & 1n) === 1n) positions.add(from + bit);
  }
}
