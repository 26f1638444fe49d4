import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** What of a system folder is not meant for everybody. */
export interface PrivatePlaces {
  readonly files: readonly string[];
  /** With all that is in them. */
  readonly directories: readonly string[];
}

/** `o+r` of a file, `o+rx` of a folder. */
const othersRead = 0o4;
const othersEnter = 0o5;

/**
 * Finds what only some users of the machine may read and this one is among them: keys and passwords of services. A
 * worker that is root reads all of it, and so would its commands. Follows no link.
 */
export function privatePlaces(folder: string): PrivatePlaces {
  const files: string[] = [];
  const directories: string[] = [];
  const look = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inner = join(path, entry.name);
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const stats = lstatSync(inner, { throwIfNoEntry: false });
      if (stats === undefined) continue;
      if (stats.isDirectory() && (stats.mode & othersEnter) === othersEnter) look(inner);
      else if (!isReadable(stats)) continue;
      else if (stats.isDirectory()) directories.push(inner);
      else if ((stats.mode & othersRead) === 0 && stats.size > 0) files.push(inner);
    }
  };
  look(folder);
  return { files, directories };
}

/** A command has the worker's user and groups, and none of the rights of root beyond those. */
function isReadable({ uid, gid, mode }: Stats): boolean {
  if (uid === process.geteuid?.()) return (mode & 0o400) !== 0;
  return (mode & 0o040) !== 0 && [process.getegid?.(), ...(process.getgroups?.() ?? [])].includes(gid);
}
