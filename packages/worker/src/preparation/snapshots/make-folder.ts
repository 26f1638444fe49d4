import { mkdirSync } from 'node:fs';
import type { Directory } from '../../files/directory.js';

/** Makes a folder of this user's alone and opens it. The caller closes it. */
export function makeFolder(parent: Directory, name: string): Directory {
  mkdirSync(parent.place(name), { mode: 0o700 });
  return parent.child(name);
}
