import { unlinkSync } from 'node:fs';
import type { Directory } from '../../files/directory.js';
import { removeTree } from '../../sandbox/remove-tree.js';
import { namesOf } from './names-of.js';
import { SnapshotRefusal } from './snapshot-refusal.js';

/**
 * Removes all that is in a folder, following no link; with `last` that name at the end, so that it stays as long as
 * anything does.
 *
 * @throws {SnapshotRefusal} where something cannot be removed.
 */
export function emptyFolder(folder: Directory, last?: string): void {
  const { names } = namesOf(folder, Number.POSITIVE_INFINITY);
  for (const name of names) {
    if (name === last) continue;
    if (folder.look(name)?.kind !== 'directory') unlinkSync(folder.place(name));
    else if (!removeTree(folder, name, Number.POSITIVE_INFINITY)) {
      throw new SnapshotRefusal(`"${folder.path()}/${name}" could not be removed; remove it by hand.`);
    }
  }
  if (last !== undefined && names.includes(last)) unlinkSync(folder.place(last));
}
