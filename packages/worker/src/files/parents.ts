import { closeSync, constants, fsync as fsyncCallback, mkdirSync, openSync, rmdirSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Directory } from './directory.js';
import type { Resolved } from './resolve.js';

const fsync = promisify(fsyncCallback);

/** The directory of a file to be written, with those that were made for it. */
export interface Parents {
  readonly directory: Directory;
  /** Removes what was made, unless someone else has filled it meanwhile. */
  undo(): void;
  /** Makes sure that what was made survives a crash. */
  sync(): Promise<void>;
  close(): void;
}

/** Makes what is missing above a file; where that fails, nothing of it is left. */
export function makeParents({ parent, missing }: Pick<Resolved, 'parent' | 'missing'>): Parents {
  let directory = parent.again();
  const handles = [directory];
  const made: { within: Directory; name: string }[] = [];
  const undo = (): void => {
    for (const { within, name } of [...made].reverse()) {
      try {
        rmdirSync(within.place(name));
      } catch {
        return;
      }
    }
  };
  const sync = async (): Promise<void> => {
    for (const { within } of made) await syncDirectory(within);
  };
  const close = (): void => {
    for (const handle of handles) handle.close();
  };
  try {
    for (const name of missing) {
      mkdirSync(directory.place(name), 0o777);
      made.push({ within: directory, name });
      directory = directory.child(name);
      handles.push(directory);
    }
  } catch (error) {
    undo();
    close();
    throw error;
  }
  return { directory, undo, sync, close };
}

/** Makes sure that the names in a directory survive a crash. */
export async function syncDirectory(directory: Directory): Promise<void> {
  const fd = openSync(`/proc/self/fd/${directory.fd}`, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await fsync(fd);
  } finally {
    closeSync(fd);
  }
}
