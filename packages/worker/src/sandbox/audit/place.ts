import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { z } from 'zod';
import type { Directory, Entry } from '../../files/directory.js';
import { FileRefusal, refusalOf } from '../../files/refusal.js';

/** Contents beyond this are not read, in bytes: whoever made them chose how many there are. */
const rememberedBytes = 1024n ** 2n;

/** What bears a name. */
export const placeSchema = z.discriminatedUnion('kind', [
  /** `links`: how many names it has on its file system, where that is more than this one. */
  z.strictObject({
    kind: z.literal('file'),
    mode: z.int(),
    content: z.base64(),
    links: z.int().min(2).optional(),
  }),
  /** `version`: inode, size and time of the last change, which nobody can set. */
  z.strictObject({ kind: z.literal('large'), mode: z.int(), version: z.string() }),
  z.strictObject({ kind: z.literal('symlink'), target: z.string() }),
  z.strictObject({ kind: z.enum(['directory', 'other']) }),
]);
export type Place = z.infer<typeof placeSchema>;

/**
 * Looks at a name beneath a directory, following nothing; undefined where there is nothing, or no way to it.
 *
 * @throws {FileRefusal} for what is closed to the worker.
 */
export function readPlace(base: Directory, segments: readonly string[]): Place | undefined {
  return atParent(base, segments, (parent, name) => {
    const entry = parent.find(name);
    if (entry === undefined) return undefined;
    try {
      return placeOf(parent, entry);
    } finally {
      closeSync(entry.fd);
    }
  });
}

function placeOf(parent: Directory, entry: Entry): Place {
  if (entry.kind === 'symlink') return { kind: 'symlink', target: readlinkSync(parent.place(entry.name)) };
  if (entry.kind !== 'file') return { kind: entry.kind };
  const mode = Number(entry.stats.mode & 0o777n);
  const { ino, size, ctimeNs, nlink } = entry.stats;
  if (size > rememberedBytes) return { kind: 'large', mode, version: `${ino}:${size}:${ctimeNs}` };
  const content = contentOf(entry).toString('base64');
  return { kind: 'file', mode, content, ...(nlink > 1n ? { links: Number(nlink) } : {}) };
}

function contentOf({ fd, name }: Entry): Buffer {
  try {
    return readFileSync(`/proc/self/fd/${fd}`);
  } catch (error) {
    throw refusalOf(error, name);
  }
}

/** Whether they are alike but for further names. */
export function samePlace(one: Place | undefined, other: Place | undefined): boolean {
  return JSON.stringify(onlyName(one)) === JSON.stringify(onlyName(other));
}

/** Whether a file has more names than before: by one of them it can be written to where nobody looks for it. */
export function gotNames(before: Place | undefined, after: Place | undefined): boolean {
  const namesOf = (place: Place | undefined): number => (place?.kind === 'file' ? (place.links ?? 1) : 1);
  return namesOf(after) > namesOf(before);
}

function onlyName(place: Place | undefined): Place | undefined {
  return place?.kind === 'file' ? { ...place, links: undefined } : place;
}

/** The text of a place that is a small regular file. */
export function textOf(place: Place | undefined): string | undefined {
  return place?.kind === 'file' ? Buffer.from(place.content, 'base64').toString('utf8') : undefined;
}

/** Takes away whatever bears the name. */
export function removePlace(base: Directory, segments: readonly string[]): void {
  atParent(base, segments, (parent, name) => {
    rmSync(parent.place(name), { recursive: true, force: true });
    return undefined;
  });
}

/** Puts a file or a link back, atomically. False where it cannot be done: no content, or no way to its folder. */
export function restorePlace(base: Directory, segments: readonly string[], place: Place): boolean {
  if (place.kind !== 'file' && place.kind !== 'symlink') return false;
  const restored = atParent(base, segments, (parent, name) => {
    if (readPlace(parent, [name])?.kind === 'directory') removePlace(parent, [name]);
    const temporary = `${name}.${randomBytes(6).toString('hex')}`;
    if (place.kind === 'symlink') symlinkSync(place.target, parent.place(temporary));
    else writeNew(parent.place(temporary), Buffer.from(place.content, 'base64'), place.mode);
    renameSync(parent.place(temporary), parent.place(name));
    return true;
  });
  return restored ?? false;
}

function writeNew(path: string, content: Buffer, mode: number): void {
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
  const descriptor = openSync(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(descriptor, content);
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}

function atParent<T>(
  base: Directory,
  segments: readonly string[],
  act: (parent: Directory, name: string) => T | undefined,
): T | undefined {
  const name = segments.at(-1);
  if (name === undefined) return undefined;
  let parent: Directory;
  try {
    parent = base.walk(segments.slice(0, -1));
  } catch (error) {
    if (error instanceof FileRefusal) return undefined;
    throw error;
  }
  try {
    return act(parent, name);
  } finally {
    parent.close();
  }
}
