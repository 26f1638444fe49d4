import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type BigIntStats,
} from 'node:fs';
import { basename } from 'node:path';
import { FileRefusal, refusalOf } from './refusal.js';

/** `O_PATH` of Linux, which Node does not name: a handle on a place, whatever stands there, without opening it. */
const O_PATH = 0o10000000;

export type EntryKind = 'file' | 'directory' | 'symlink' | 'other';

/** Device and inode: which file it is, whatever it is called. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export function sameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

export function identityOf(stats: FileIdentity): FileIdentity {
  return { dev: stats.dev, ino: stats.ino };
}

/** One name of a directory, held open so that it stays the same thing until it is closed. */
export interface Entry {
  readonly fd: number;
  readonly name: string;
  readonly kind: EntryKind;
  readonly stats: BigIntStats;
}

/**
 * A directory held by a descriptor. Everything beneath it is reached one segment at a time through
 * `/proc/self/fd/<fd>/<segment>` and no segment is ever followed as a link, so a name that is exchanged for
 * a symbolic link between two looks leads to a refusal and never out of the directory. Linux only.
 *
 * Whoever opens one closes it. Descriptors are close-on-exec.
 */
export class Directory {
  readonly fd: number;
  readonly stats: BigIntStats;
  #mount: string | undefined;

  private constructor(fd: number, stats: BigIntStats) {
    this.fd = fd;
    this.stats = stats;
  }

  /** Opens a trusted absolute path; links on the way are followed, so `path()` is the canonical name. */
  static open(absolutePath: string): Directory {
    let fd: number;
    try {
      fd = openSync(absolutePath, O_PATH | constants.O_DIRECTORY);
    } catch (error) {
      throw refusalOf(error, absolutePath);
    }
    return new Directory(fd, fstatSync(fd, { bigint: true }));
  }

  /** The place of a name beneath this directory, for system calls that do not follow its last segment. */
  place(name: string): string {
    checkSegment(name);
    return `/proc/self/fd/${this.fd}/${name}`;
  }

  /** The canonical absolute path as of now; of a removed directory it ends in ` (deleted)`. */
  path(): string {
    return readlinkSync(`/proc/self/fd/${this.fd}`);
  }

  /** On which mount it lies; the same directory bound to a second place lies on another one there. */
  get mount(): string {
    this.#mount ??= mountOf(this.fd);
    return this.#mount;
  }

  /** What bears this name now, links themselves included, without holding it; `undefined` where nothing does. */
  look(name: string): { readonly kind: EntryKind; readonly stats: BigIntStats } | undefined {
    let stats: BigIntStats | undefined;
    try {
      stats = lstatSync(this.place(name), { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      throw refusalOf(error, name);
    }
    return stats && { kind: kindOf(stats), stats };
  }

  /** Holds whatever bears this name, links themselves included. The caller closes `fd`. */
  entry(name: string): Entry {
    let fd: number;
    try {
      fd = openSync(this.place(name), O_PATH | constants.O_NOFOLLOW);
    } catch (error) {
      throw refusalOf(error, name);
    }
    const stats = fstatSync(fd, { bigint: true });
    return { fd, name, kind: kindOf(stats), stats };
  }

  /** Like `entry`, but `undefined` where nothing bears the name. */
  find(name: string): Entry | undefined {
    try {
      return this.entry(name);
    } catch (error) {
      if (error instanceof FileRefusal && error.fault === 'not_found') return undefined;
      throw error;
    }
  }

  /** Opens the directory of this name; refuses a link, even to a directory. */
  child(name: string): Directory {
    return Directory.of(this.entry(name));
  }

  /** Takes an entry over as a directory, or closes it and refuses. */
  static of(entry: Entry): Directory {
    if (entry.kind === 'directory') return new Directory(entry.fd, entry.stats);
    closeSync(entry.fd);
    if (entry.kind === 'symlink') throw linkRefusal(entry.name);
    throw new FileRefusal('not_a_directory', entry.name, `"${entry.name}" is not a directory.`);
  }

  /** Opens the directory at the end of these segments. With none, it is a second handle on this one. */
  walk(segments: readonly string[]): Directory {
    let current: Directory | undefined;
    for (const segment of segments) {
      const parent = current;
      try {
        current = (parent ?? this).child(segment);
      } catch (error) {
        throw error instanceof FileRefusal ? renamed(error, segments.join('/')) : error;
      } finally {
        parent?.close();
      }
    }
    return current ?? this.again();
  }

  /** A second handle on the same directory. */
  again(): Directory {
    return new Directory(openSync(`/proc/self/fd/${this.fd}`, O_PATH | constants.O_DIRECTORY), this.stats);
  }

  /** The names in this directory and their kinds, in no order. */
  list(): { name: string; kind: EntryKind }[] {
    try {
      return readdirSync(`/proc/self/fd/${this.fd}`, { withFileTypes: true }).map((entry) => ({
        name: entry.name,
        kind: kindOf(entry),
      }));
    } catch (error) {
      throw refusalOf(error, basename(this.path()));
    }
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** Splits a relative path into the segments a walk takes; refuses what is absolute, empty or climbs. */
export function segmentsOf(relative: string): string[] {
  const segments = relative.split('/');
  for (const segment of segments) checkSegment(segment, relative);
  return segments;
}

/** The refusal of a link, saying what to do instead. */
export function linkRefusal(path: string): FileRefusal {
  return new FileRefusal(
    'symlink',
    path,
    `"${path}" is, or lies behind, a symbolic link, which is not followed here: name the file it points to instead.`,
  );
}

function renamed(error: FileRefusal, path: string): FileRefusal {
  if (error.path === path) return error;
  return new FileRefusal(error.fault, path, `"${path}" cannot be reached: ${error.message}`, {
    cause: error,
  });
}

function checkSegment(segment: string, path = segment): void {
  if (segment === '' || segment === '.' || segment === '..' || /[/\0]/u.test(segment)) {
    throw new FileRefusal('outside', path, `"${path}" is not a plain path beneath its directory.`);
  }
}

function mountOf(fd: number): string {
  const mount = /^mnt_id:\s*(\d+)$/mu.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
  if (mount === undefined) throw new Error('The kernel does not say on which mount a descriptor lies.');
  return mount;
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}
