import { opendirSync } from 'node:fs';
import type { Directory } from '../../files/directory.js';

export interface Names {
  /** In no order. */
  readonly names: readonly string[];
  /** Whether these are all of them. */
  readonly complete: boolean;
}

/** The names in a directory, of which no more than `most` are looked at, however many there are. */
export function namesOf(directory: Directory, most: number): Names {
  const names: string[] = [];
  const open = opendirSync(`/proc/self/fd/${directory.fd}`);
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      if (names.length >= most) return { names, complete: false };
      names.push(entry.name);
    }
    return { names, complete: true };
  } finally {
    open.closeSync();
  }
}
