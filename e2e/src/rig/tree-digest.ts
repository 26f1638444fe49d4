import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Of each path beneath a folder: its kind, mode, and what it holds or leads to. */
export type TreeDigest = Readonly<Record<string, string>>;

/**
 * What stands beneath a folder, byte by byte and mode by mode. Two digests that are equal say that nothing was
 * written, renamed, linked or removed in between. `except` are paths relative to the folder, each with all
 * beneath it.
 */
export function digestOf(folder: string, except: readonly string[] = []): TreeDigest {
  const digest: Record<string, string> = {};
  const look = (relative: string): void => {
    if (except.includes(relative)) return;
    const path = join(folder, relative);
    const stats = lstatSync(path);
    const mode = stats.mode.toString(8);
    if (stats.isDirectory()) {
      digest[relative] = mode;
      for (const name of readdirSync(path)) look(join(relative, name));
    } else if (stats.isSymbolicLink()) digest[relative] = `${mode} -> ${readlinkSync(path)}`;
    else if (stats.isFile()) digest[relative] = `${mode} ${sha256(path)} ${stats.nlink}`;
    else digest[relative] = `${mode} special`;
  };
  look('.');
  return digest;
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
