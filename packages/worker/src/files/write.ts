import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync as fsyncCallback,
  linkSync,
  openSync,
  renameSync,
  unlinkSync,
  write as writeCallback,
} from 'node:fs';
import { promisify } from 'node:util';
import { segmentsOf, type Directory, type Entry } from './directory.js';
import { holdsGitSegment } from './git-path.js';
import { makeParents, syncDirectory } from './parents.js';
import { versionOf, type FileVersion } from './read.js';
import { FileRefusal, refusalOf } from './refusal.js';
import { resolve, type Resolved } from './resolve.js';

const fsync = promisify(fsyncCallback);
const write = promisify(writeCallback);

export interface WriteOptions {
  /** Whether the file must be new, must be there, or may be either. */
  readonly create: 'create' | 'replace' | 'either';
  /** Permission bits of a new file; by default what the process's umask leaves of 0666. A replaced file keeps its own. */
  readonly mode?: number | undefined;
  /** Whether missing directories are made, and removed again if the write fails. */
  readonly createParents?: boolean | undefined;
  /** Replace only what the caller read: another version is refused with `changed`. */
  readonly expected?: FileVersion | undefined;
  /** Name of the temporary file beside the target, so that a journal can say what a crash left behind. */
  readonly temporaryName?: string | undefined;
}

export interface Written {
  /** The path after links, relative to the confining directory. */
  readonly path: string;
  readonly created: boolean;
}

/** A name for a temporary file that nothing else bears. */
export function temporaryName(): string {
  return `.codelanes-${randomBytes(8).toString('hex')}.tmp`;
}

/**
 * Writes a file beneath a directory so that at every moment, a crash included, the path holds the old bytes or
 * the new ones: temporary file, sync, rename, sync of the directory. With `create`, what is there already is
 * never replaced, not even when it appears in the same moment. Links inside the directory are followed; no
 * path with a `.git` segment, before or after links, is ever written.
 */
export async function writeAtomically(
  top: Directory,
  relative: string,
  bytes: Uint8Array,
  options: WriteOptions,
): Promise<Written> {
  refuseGit(relative, relative);
  const found = resolve(top, relative);
  try {
    refuseGit(found.path, relative);
    refuseTarget(found, relative, options);
    const parents = makeParents(found);
    try {
      await replace(parents.directory, found, bytes, options);
      await parents.sync();
    } catch (error) {
      parents.undo();
      throw error;
    } finally {
      parents.close();
    }
    return { path: found.path, created: found.entry === undefined };
  } catch (error) {
    throw refusalOf(error, relative);
  } finally {
    found.close();
  }
}

/** Makes a directory; with `parents`, those above it too, and one that is there already is fine. */
export function makeDirectory(top: Directory, relative: string, { parents = false } = {}): void {
  refuseGit(relative, relative);
  const found = resolve(top, relative);
  try {
    refuseGit(found.path, relative);
    if (found.entry?.kind === 'directory' && parents) return;
    if (found.entry !== undefined) {
      throw new FileRefusal('exists', relative, `"${relative}" exists already.`);
    }
    if (found.missing.length > 0 && !parents) throw missingParent(relative);
    makeParents({ ...found, missing: [...found.missing, found.name] }).close();
  } catch (error) {
    throw refusalOf(error, relative);
  } finally {
    found.close();
  }
}

/** Removes a file by its own name, a link included; `false` where there was none. */
export function removeFile(top: Directory, relative: string): boolean {
  refuseGit(relative, relative);
  const segments = segmentsOf(relative);
  const parent = top.walk(segments.slice(0, -1));
  try {
    unlinkSync(parent.place(segments.at(-1) ?? ''));
    return true;
  } catch (error) {
    const refusal = refusalOf(error, relative);
    if (refusal instanceof FileRefusal && refusal.fault === 'not_found') return false;
    throw refusal;
  } finally {
    parent.close();
  }
}

async function replace(
  parent: Directory,
  { name, entry, path }: Resolved,
  bytes: Uint8Array,
  options: WriteOptions,
): Promise<void> {
  const temporary = parent.place(options.temporaryName ?? temporaryName());
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = openSync(temporary, flags, 0o666);
  try {
    keepPermissions(fd, entry, options.mode);
    await writeAll(fd, bytes);
    await fsync(fd);
    if (options.create === 'create') linkSync(temporary, parent.place(name));
    else {
      refuseChanged(parent, name, path, options);
      renameSync(temporary, parent.place(name));
    }
  } catch (error) {
    unlinkIfThere(temporary);
    throw error;
  } finally {
    closeSync(fd);
  }
  if (options.create === 'create') unlinkIfThere(temporary);
  await syncDirectory(parent);
}

function keepPermissions(fd: number, entry: Entry | undefined, mode: number | undefined): void {
  if (entry === undefined) {
    if (mode !== undefined) fchmodSync(fd, mode);
    return;
  }
  const own = fstatSync(fd, { bigint: true });
  if (own.uid !== entry.stats.uid || own.gid !== entry.stats.gid) {
    try {
      fchownSync(fd, Number(entry.stats.uid), Number(entry.stats.gid));
    } catch {
      // Only root may give a file away; for others the new file is their own, as with every editor.
    }
  }
  // Whoever chooses what is in a program may not choose as whom it runs: the set-id bits go, as with every write.
  fchmodSync(fd, Number(entry.stats.mode) & 0o777);
}

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    const { bytesWritten } = await write(fd, bytes, offset, bytes.length - offset);
    offset += bytesWritten;
  }
}

function refuseGit(path: string, relative: string): void {
  if (!holdsGitSegment(path)) return;
  throw new FileRefusal(
    'git_path',
    relative,
    `"${relative}" belongs to Git's own storage, which no file tool changes: use a git command.`,
  );
}

function refuseTarget(
  found: Resolved,
  relative: string,
  { create, createParents, expected }: WriteOptions,
): void {
  const { entry } = found;
  if (entry === undefined) {
    if (create === 'replace') throw new FileRefusal('not_found', relative, `"${relative}" does not exist.`);
    if (found.missing.length > 0 && createParents !== true) throw missingParent(relative);
  } else {
    if (entry.kind !== 'file') {
      throw new FileRefusal('not_a_file', relative, `"${relative}" is not a regular file.`);
    }
    if (create === 'create') throw new FileRefusal('exists', relative, `"${relative}" exists already.`);
  }
  if (expected !== undefined && entry === undefined) throw changed(relative);
}

/** The last look before the rename; only the worker and the lane's own processes can act after it. */
function refuseChanged(
  parent: Directory,
  name: string,
  path: string,
  { create, expected }: WriteOptions,
): void {
  const now = parent.find(name);
  if (now === undefined) {
    if (create === 'replace' || expected !== undefined) throw changed(path);
    return;
  }
  try {
    if (now.kind !== 'file') throw changed(path);
    if (expected !== undefined && !sameVersion(versionOf(now.fd), expected)) throw changed(path);
  } finally {
    closeSync(now.fd);
  }
}

function sameVersion(one: FileVersion, other: FileVersion): boolean {
  return (
    one.dev === other.dev &&
    one.ino === other.ino &&
    one.size === other.size &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs
  );
}

function changed(path: string): FileRefusal {
  return new FileRefusal(
    'changed',
    path,
    `"${path}" changed while it was being edited: read it again and retry.`,
  );
}

function missingParent(relative: string): FileRefusal {
  return new FileRefusal('not_found', relative, `The directory of "${relative}" does not exist.`);
}

function unlinkIfThere(place: string): void {
  try {
    unlinkSync(place);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
