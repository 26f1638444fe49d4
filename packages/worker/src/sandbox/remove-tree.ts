import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import type { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';

/** Begins the names of folders that were moved up and still are to be removed. */
export const movedUpPrefix = 'codelanes-removed-';

/**
 * Removes a folder with all that is in it, however deep: folders are moved up beside it first, so that neither
 * the length of a path nor the number of open files bounds it. Follows no link; names need not be text. `false`
 * where something is left, because there is more of it than `most` entries or somebody else acts there too.
 */
export function removeTree(parent: Directory, name: string, most: number): boolean {
  const folders = [name];
  let left = most;
  try {
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const directory = parent.child(folder);
      try {
        for (const entry of readdirSync(`/proc/self/fd/${directory.fd}`, {
          withFileTypes: true,
          encoding: 'buffer',
        })) {
          left -= 1;
          if (left < 0) return false;
          const place = placeOf(directory, entry.name);
          if (entry.isDirectory()) folders.push(movedUp(place, parent));
          else unlinkSync(place);
        }
      } finally {
        directory.close();
      }
      rmdirSync(parent.place(folder));
    }
    return true;
  } catch (error) {
    if (error instanceof FileRefusal || (error instanceof Error && 'code' in error)) return false;
    throw error;
  }
}

function movedUp(place: Buffer, parent: Directory): string {
  const name = `${movedUpPrefix}${randomBytes(8).toString('hex')}`;
  renameSync(place, parent.place(name));
  return name;
}

function placeOf(directory: Directory, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory.fd}/`), name]);
}
