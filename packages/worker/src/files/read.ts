import { closeSync, constants, fstatSync, openSync, read as readCallback } from 'node:fs';
import { promisify } from 'node:util';
import { Directory, type Entry, type EntryKind, type FileIdentity } from './directory.js';
import { FileRefusal, refusalOf } from './refusal.js';
import { resolve } from './resolve.js';

const read = promisify(readCallback);

/** What tells one state of a file from a later one. */
export interface FileVersion extends FileIdentity {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** A regular file, open for reading. The caller calls `close`. */
export interface OpenedFile {
  readonly fd: number;
  readonly version: FileVersion;
  /** The path after links, relative to the confining directory. */
  readonly path: string;
  close(): void;
}

export interface FileContent {
  readonly bytes: Buffer;
  readonly version: FileVersion;
  readonly path: string;
}

/** Opens a regular file beneath a directory; devices, pipes and sockets are refused without being opened. */
export function openFile(top: Directory, relative: string): OpenedFile {
  const found = resolve(top, relative);
  try {
    const fd = openRegular(found.entry, relative);
    return {
      fd,
      version: versionOf(fd),
      path: found.path,
      close: () => {
        closeSync(fd);
      },
    };
  } finally {
    found.close();
  }
}

/**
 * Reads a whole regular file beneath a directory. A file of more than `maxBytes`, or one that grows past them
 * while it is read, is refused with `too_large`.
 */
export async function readFile(
  top: Directory,
  relative: string,
  { maxBytes }: { readonly maxBytes: number },
): Promise<FileContent> {
  const file = openFile(top, relative);
  try {
    const tooLarge = new FileRefusal(
      'too_large',
      relative,
      `"${relative}" has more than ${maxBytes} bytes: read a part of it with a command.`,
    );
    if (file.version.size > BigInt(maxBytes)) throw tooLarge;
    // One byte more than expected shows that the end was reached.
    let buffer = Buffer.alloc(Number(file.version.size) + 1);
    let length = 0;
    for (;;) {
      if (length === buffer.length) {
        if (length > maxBytes) throw tooLarge;
        buffer = Buffer.concat([buffer, Buffer.alloc(Math.min(length, maxBytes + 1 - length))]);
      }
      const { bytesRead } = await read(file.fd, buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > maxBytes) throw tooLarge;
    return { bytes: buffer.subarray(0, length), version: file.version, path: file.path };
  } catch (error) {
    throw refusalOf(error, relative);
  } finally {
    file.close();
  }
}

export interface FileFacts {
  readonly kind: Exclude<EntryKind, 'symlink'>;
  readonly path: string;
  readonly size: number;
  readonly mode: number;
}

/** What stands at a path, after links; `undefined` where nothing does. */
export function inspect(top: Directory, relative: string): FileFacts | undefined {
  const found = resolve(top, relative);
  try {
    const { entry, path } = found;
    if (entry === undefined || entry.kind === 'symlink') return undefined;
    return {
      kind: entry.kind,
      path,
      size: Number(entry.stats.size),
      mode: Number(entry.stats.mode) & 0o7777,
    };
  } finally {
    found.close();
  }
}

/** Opens the directory at a path, after links; `.` is the confining directory itself. The caller closes it. */
export function openDirectory(top: Directory, relative: string): Directory {
  if (relative === '.' || relative === '') return top.again();
  const found = resolve(top, relative);
  try {
    if (found.entry === undefined) throw notFound(relative);
    if (found.entry.kind !== 'directory') {
      throw new FileRefusal('not_a_directory', relative, `"${relative}" is not a directory.`);
    }
    return Directory.open(`/proc/self/fd/${found.entry.fd}`);
  } finally {
    found.close();
  }
}

/** Reopens a held entry for reading if it is a regular file; the inode cannot change in between. */
export function openRegular(entry: Entry | undefined, relative: string): number {
  if (entry === undefined) throw notFound(relative);
  if (entry.kind !== 'file') {
    const what = entry.kind === 'directory' ? 'a directory' : 'not a regular file';
    throw new FileRefusal('not_a_file', relative, `"${relative}" is ${what}.`);
  }
  try {
    return openSync(`/proc/self/fd/${entry.fd}`, constants.O_RDONLY);
  } catch (error) {
    throw refusalOf(error, relative);
  }
}

export function versionOf(fd: number): FileVersion {
  const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(fd, { bigint: true });
  return { dev, ino, size, mtimeNs, ctimeNs };
}

function notFound(relative: string): FileRefusal {
  return new FileRefusal('not_found', relative, `"${relative}" does not exist.`);
}
