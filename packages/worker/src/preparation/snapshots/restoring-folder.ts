import { rmdirSync, unlinkSync } from 'node:fs';
import type { Directory } from '../../files/directory.js';
import { emptyFolder } from './empty-folder.js';

/** At the top of a root while a snapshot is restored there, so that what is put in place was whole before. */
export const restoringName = '.codelanes-restoring';

/** Removes it, whatever is in it; what bears its name and is no folder, too. */
export function clearRestoring(top: Directory): void {
  const there = top.look(restoringName);
  if (there === undefined) return;
  if (there.kind !== 'directory') {
    unlinkSync(top.place(restoringName));
    return;
  }
  const folder = top.child(restoringName);
  try {
    emptyFolder(folder);
  } finally {
    folder.close();
  }
  rmdirSync(top.place(restoringName));
}
