import { closeSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Directory } from '../files/directory.js';
import { openRegular } from '../files/read.js';
import { FileRefusal } from '../files/refusal.js';

/** As deep as Git itself follows them. */
const maxDepth = 5;
const maxBytes = 64 * 1024;

export interface Alternates {
  /** Canonical paths of further object stores that a repository borrows from, its alternates' own included. */
  readonly directories: readonly string[];
  /** What is listed but is no object store; it is never shown to a lane. */
  readonly refused: readonly string[];
}

/**
 * The object stores that a repository needs beside its own. Since a lane that may write the shared object store
 * can plant entries, whoever captures them does so once, at start, and an entry counts only where everything in
 * the directory bears a name that Git gives in an object store, which no home and no `/etc` does.
 */
export function readAlternates(objects: Directory): Alternates {
  const found = { directories: new Set<string>(), refused: new Set<string>() };
  collect(objects, found, maxDepth);
  return { directories: [...found.directories], refused: [...found.refused] };
}

interface Collected {
  readonly directories: Set<string>;
  readonly refused: Set<string>;
}

function collect(objects: Directory, found: Collected, depth: number): void {
  if (depth === 0) return;
  for (const line of readLines(objects)) {
    const path = resolve(objects.path(), line);
    let alternate: Directory;
    try {
      alternate = Directory.open(path);
    } catch (error) {
      if (!(error instanceof FileRefusal)) throw error;
      found.refused.add(path);
      continue;
    }
    try {
      if (!isObjectStore(alternate)) found.refused.add(path);
      else if (!found.directories.has(alternate.path())) {
        found.directories.add(alternate.path());
        collect(alternate, found, depth - 1);
      }
    } finally {
      alternate.close();
    }
  }
}

function readLines(objects: Directory): string[] {
  const info = objects.find('info');
  if (info === undefined) return [];
  const directory = Directory.of(info);
  try {
    const entry = directory.find('alternates');
    if (entry === undefined) return [];
    try {
      if (entry.stats.size > BigInt(maxBytes)) return [];
      const fd = openRegular(entry, 'objects/info/alternates');
      try {
        return readFileSync(fd, 'utf8')
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('#'));
      } finally {
        closeSync(fd);
      }
    } finally {
      closeSync(entry.fd);
    }
  } finally {
    directory.close();
  }
}

function isObjectStore(directory: Directory): boolean {
  const entries = directory.list();
  return (
    entries.some(({ name }) => name === 'info' || name === 'pack') &&
    entries.every(
      ({ name, kind }) =>
        kind !== 'symlink' &&
        (/^(?:[0-9a-f]{2}|info|pack)$/u.test(name) || /^(?:tmp_|maintenance\.lock|incoming-)/u.test(name)),
    )
  );
}
