import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';

const maxLinks = 40;

/** A path on which nobody but this user and root can put something else. */
export interface TrustedPath {
  /** Where it leads, without links. */
  readonly canonical: string;
  /** Every place on the way, links and the canonical path included. */
  readonly places: readonly string[];
}

/** Why a path cannot be trusted, with what to do. */
export class UntrustedPath extends Error {
  override readonly name = 'UntrustedPath';
}

/**
 * Goes from `/` to a path one name at a time, links included. Each folder on the way belongs to this user or root
 * and others may not write there, or only add names of their own (sticky); each link belongs to this user or root.
 *
 * @throws {UntrustedPath}
 */
export function walkTrusted(path: string): TrustedPath {
  const pending = resolve(path).split('/').filter(isName);
  const places: string[] = [];
  let current = '/';
  for (let links = 0; ;) {
    const stats = lookAt(current, path);
    places.push(current);
    if (stats.isSymbolicLink()) {
      links += 1;
      if (links > maxLinks) throw new UntrustedPath(`"${path}" leads through more than ${maxLinks} links.`);
      const target = readlinkSync(current);
      pending.unshift(...target.split('/').filter(isName));
      current = isAbsolute(target) ? '/' : dirname(current);
      continue;
    }
    const next = pending.shift();
    if (next === undefined) return { canonical: current, places };
    refuseShared(stats, current, path);
    current = next === '..' ? dirname(current) : `${current === '/' ? '' : current}/${next}`;
  }
}

function isName(segment: string): boolean {
  return segment !== '' && segment !== '.';
}

function lookAt(current: string, path: string): Stats {
  let stats: Stats;
  try {
    stats = lstatSync(current);
  } catch (error) {
    const where = current === path ? `"${path}"` : `"${path}" cannot be reached: "${current}"`;
    throw new UntrustedPath(`${where} does not exist or may not be looked at; check the path.`, {
      cause: error,
    });
  }
  if (stats.uid === process.getuid?.() || stats.uid === 0) return stats;
  throw new UntrustedPath(
    `"${current}" belongs to another user, who can put something else there; chown it.`,
  );
}

function refuseShared(stats: Stats, current: string, path: string): void {
  if (!stats.isDirectory())
    throw new UntrustedPath(`"${path}" cannot be reached: "${current}" is not a folder.`);
  const writable = (stats.mode & 0o022) !== 0;
  const sticky = (stats.mode & 0o1000) !== 0;
  if (writable && !sticky) {
    throw new UntrustedPath(
      `"${current}" may be written by others, who can put something else there; chmod go-w it.`,
    );
  }
}
