import { closeSync, readSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { identityOf, type Directory, type FileIdentity } from '../files/directory.js';
import { openRegular } from '../files/read.js';
import { FileRefusal } from '../files/refusal.js';

/** Git's own pointers are one short line. */
const maxBytes = 4096;

/** A small file by which Git finds another place. */
export interface PointerFile {
  readonly text: string;
  readonly identity: FileIdentity;
  /** When its bytes were last written, in nanoseconds since 1970. */
  readonly writtenNs: bigint;
}

/**
 * Reads one of Git's pointer files: regular, under one name only, at most 4 KiB, one line.
 *
 * @throws {FileRefusal} where it is anything else.
 */
export function readPointer(directory: Directory, name: string): PointerFile {
  const entry = directory.entry(name);
  try {
    if (entry.kind === 'symlink') throw new FileRefusal('symlink', name, `"${name}" is a symbolic link.`);
    const fd = openRegular(entry, name);
    try {
      if (entry.stats.nlink !== 1n) throw refuse(name, 'has a second name (a hard link)');
      if (entry.stats.size > BigInt(maxBytes)) throw refuse(name, `has more than ${maxBytes} bytes`);
      const bytes = Buffer.alloc(maxBytes);
      const text = bytes.toString('utf8', 0, readSync(fd, bytes, 0, maxBytes, 0)).replace(/\n$/u, '');
      if (text === '' || /[\n\r\0]/u.test(text)) throw refuse(name, 'is not exactly one line');
      return { text, identity: identityOf(entry.stats), writtenNs: entry.stats.mtimeNs };
    } finally {
      closeSync(fd);
    }
  } finally {
    closeSync(entry.fd);
  }
}

/**
 * The absolute path that a pointer's text means, or `undefined` where it is written in a way that Git never
 * writes: `.`, `..` and empty segments may stand only as the climb at the beginning of a relative path.
 */
export function pointerTarget(text: string, folder: string): string | undefined {
  const plain = isAbsolute(text) ? text.slice(1) : text.replace(/^(?:\.\.(?:\/|$))+/u, '');
  if (plain !== '' && plain.split('/').some((part) => part === '' || part === '.' || part === '..')) {
    return undefined;
  }
  return resolve(folder, text);
}

function refuse(name: string, words: string): FileRefusal {
  return new FileRefusal('not_a_file', name, `"${name}" ${words}.`);
}
