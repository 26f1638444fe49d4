import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { Directory } from '../files/directory.js';
import { removeTree } from './remove-tree.js';

const run = promisify(execFile);
/** Entries that are removed in one go on the main thread, where nothing else would do. */
const maxRemoved = 1_000_000;

/**
 * Removes a folder in which commands wrote, when none of them runs any more: also what they closed to its owner, made
 * deeper than a path can be long, or gave names that are no text. Follows no link. What is left after that is left.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
    return;
  } catch {
    await run('/bin/chmod', ['-R', 'u+rwX', path]).catch(() => undefined);
  }
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    const parent = Directory.open(dirname(path));
    try {
      removeTree(parent, basename(path), maxRemoved);
    } finally {
      parent.close();
    }
  }
}
