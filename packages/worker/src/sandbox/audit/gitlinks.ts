import { closeSync, readFileSync } from 'node:fs';
import type { Directory } from '../../files/directory.js';
import { pointerTarget } from '../../lanes/git-pointer.js';
import { gitlinksOf } from '../../git/index-gitlinks.js';
import { liesIn } from '../policy.js';
import { readPlace, textOf } from './place.js';
import type { OpenedPlaces } from './opened-places.js';

/** An index larger than this is not looked through, in bytes. */
const readableIndexBytes = 256n * 1024n * 1024n;

/** The paths that a checkout's index calls submodules; none where there is no index that can be read. */
export function listGitlinks(git: Directory): string[] {
  const entry = git.find('index');
  if (entry === undefined) return [];
  try {
    if (entry.kind !== 'file' || entry.stats.size > readableIndexBytes) return [];
    const index = readFileSync(`/proc/self/fd/${entry.fd}`);
    return gitlinksOf(index, usesSha256(git) ? 32 : 20) ?? [];
  } finally {
    closeSync(entry.fd);
  }
}

/** Whether a submodule's `.git` is the pointer into `.git/modules` that Git itself makes, or is not there. */
export function isSoundSubmodule({ root, rootPath, gitPath }: OpenedPlaces, path: string): boolean {
  const place = readPlace(root, [...path.split('/'), '.git']);
  if (place === undefined) return true;
  const line = /^gitdir: ([^\n]+)\n?$/u.exec(textOf(place) ?? '')?.[1];
  const target = line === undefined ? undefined : pointerTarget(line, `${rootPath}/${path}`);
  return target !== undefined && target !== `${gitPath}/modules` && liesIn(target, `${gitPath}/modules`);
}

function usesSha256(git: Directory): boolean {
  return /^\s*objectformat\s*=\s*sha256\s*$/imu.test(textOf(readPlace(git, ['config'])) ?? '');
}
