import { closeSync, readSync } from 'node:fs';
import { segmentsOf, type Directory, type Entry } from '../files/directory.js';
import { holdsGitSegment } from '../files/git-path.js';
import { makeParents } from '../files/parents.js';
import { openRegular } from '../files/read.js';
import { FileRefusal, refusalOf } from '../files/refusal.js';
import { removeFile, writeAtomically } from '../files/write.js';
import { findIndexed } from '../git/index-file.js';
import type { HashBytes } from '../git/split-index.js';

/** Bounds on one file and on all of them, in bytes. */
const mostFileBytes = 16 * 1024 ** 2;
const mostBytes = 64 * 1024 ** 2;
/** What a crash may leave beside a file; the next run removes it. */
const temporaryName = '.codelanes-setup.tmp';

export interface CopySetting {
  readonly paths: readonly string[];
  /** Tops of the checkout and of the worktree, and the Git directories that hold the index of each. */
  readonly checkout: { readonly top: Directory; readonly git: Directory };
  readonly worktree: { readonly top: Directory; readonly git: Directory };
  readonly hashBytes: HashBytes;
  /** Told in one line what became of each path. */
  readonly say: (line: string) => void;
}

/**
 * Brings ignored files of a checkout into a worktree of it. Only regular files, which no link leads to on either side;
 * nothing that Git tracks on either side; and nothing over what is there already. A file that the checkout does not
 * have is left out.
 *
 * @throws {FileRefusal} naming the first path that may not be copied; those before it have been.
 */
export async function copyFiles(setting: CopySetting): Promise<void> {
  const { paths, say } = setting;
  if (paths.length === 0) return;
  refuseTracked(setting);
  let room = mostBytes;
  for (const path of paths) {
    try {
      const copied = await copyFile(setting, path, Math.min(room, mostFileBytes));
      room -= copied.bytes;
      say(copied.line);
    } catch (error) {
      throw refusalOf(error, path);
    }
  }
}

interface Copied {
  readonly bytes: number;
  readonly line: string;
}

const nothing = (line: string): Copied => ({ bytes: 0, line });

async function copyFile(setting: CopySetting, path: string, maxBytes: number): Promise<Copied> {
  if (holdsGitSegment(path)) throw refuse('git_path', path, "belongs to Git's own storage");
  const source = parentOf(setting.checkout.top, path);
  if (source.missing.length > 0) {
    source.directory.close();
    return nothing(`"${path}" is not copied: the checkout does not have it.`);
  }
  const found = source.directory.find(source.name);
  source.directory.close();
  if (found === undefined) return nothing(`"${path}" is not copied: the checkout does not have it.`);
  try {
    if (found.kind !== 'file') {
      throw refuse('not_a_file', path, 'is not a regular file in the checkout, and no link is followed');
    }
    const target = parentOf(setting.worktree.top, path);
    try {
      if (target.missing.length === 0 && target.directory.look(target.name) !== undefined) {
        return nothing(`"${path}" is not copied: the worktree has it already.`);
      }
      const bytes = bytesOf(found, path, maxBytes);
      await place(bytes, Number(found.stats.mode) & 0o777, target);
      return { bytes: bytes.length, line: `"${path}" was copied from the checkout.` };
    } finally {
      target.directory.close();
    }
  } finally {
    closeSync(found.fd);
  }
}

/** The bytes of the very file that was looked at. */
function bytesOf(found: Entry, path: string, maxBytes: number): Buffer {
  const size = Number(found.stats.size);
  if (size > maxBytes)
    throw refuse('too_large', path, `has more than ${maxBytes} bytes, which are left for it`);
  const fd = openRegular(found, path);
  try {
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(fd, bytes, 0, size, 0));
  } finally {
    closeSync(fd);
  }
}

async function place(bytes: Buffer, mode: number, target: Place): Promise<void> {
  const parents = makeParents({ parent: target.directory, missing: target.missing });
  try {
    removeFile(parents.directory, temporaryName);
    // One name beneath a folder that is held: a link that is put there meanwhile leads no further than it.
    await writeAtomically(parents.directory, target.name, bytes, { create: 'create', mode, temporaryName });
    await parents.sync();
  } catch (error) {
    parents.undo();
    throw error;
  } finally {
    parents.close();
  }
}

/** Where a path ends: its deepest folder that exists, what is missing beneath it, and its name. */
interface Place {
  readonly directory: Directory;
  readonly missing: readonly string[];
  readonly name: string;
}

/** Walks to the parent of a path and follows no link. The caller closes the directory. */
function parentOf(top: Directory, path: string): Place {
  const segments = segmentsOf(path);
  const name = segments.pop() ?? '';
  let directory = top.again();
  for (const [depth, segment] of segments.entries()) {
    let next: Directory;
    try {
      next = directory.child(segment);
    } catch (error) {
      if (error instanceof FileRefusal && error.fault === 'not_found') {
        return { directory, missing: segments.slice(depth), name };
      }
      directory.close();
      throw error;
    }
    directory.close();
    directory = next;
  }
  return { directory, missing: [], name };
}

function refuseTracked({ paths, checkout, worktree, hashBytes }: CopySetting): void {
  const wanted = new Set(paths);
  for (const [where, { git }] of Object.entries({ checkout, worktree })) {
    const tracked = findIndexed(git, hashBytes, ({ name }) => wanted.has(name));
    if (tracked === undefined) {
      throw refuse(
        'denied',
        paths[0] ?? '',
        `cannot be told from a tracked file, as the index of the ${where} cannot be read`,
      );
    }
    const [first] = tracked;
    if (first !== undefined) {
      throw refuse('denied', first, `is tracked by Git in the ${where}, so each branch has its own`);
    }
  }
}

function refuse(fault: FileRefusal['fault'], path: string, words: string): FileRefusal {
  return new FileRefusal(fault, path, `"${path}" ${words}.`);
}
