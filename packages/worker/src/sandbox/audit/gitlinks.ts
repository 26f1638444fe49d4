import type { Directory } from '../../files/directory.js';
import { FileRefusal } from '../../files/refusal.js';
import { pointerTarget } from '../../lanes/git-pointer.js';
import { findIndexed } from '../../git/index-file.js';
import { hashBytesOf } from '../../git/split-index.js';
import { liesIn } from '../../files/lies-in.js';
import { isModuleFolder } from './module-folders.js';
import { readPlace, textOf } from './place.js';
import { baseOf, type OpenedPlaces, type PlaceName } from './opened-places.js';

/** Submodules lie in submodules; deeper, or more of them, nobody has. */
const deepest = 12;
const most = 10_000;

/** A submodule as an index names it. */
export interface Gitlink {
  /** The repository whose index names it, relative to the checkout; the checkout itself is `''`. */
  readonly repository: string;
  /** Relative to that repository. */
  readonly path: string;
}

export interface Gitlinks {
  readonly links: readonly Gitlink[];
  /** Repositories whose index could not be looked through, named as in a `Gitlink`. */
  readonly unreadable: readonly string[];
}

/** Where a submodule lies, relative to the checkout. */
export function placeOfGitlink({ repository, path }: Gitlink): string {
  return repository === '' ? path : `${repository}/${path}`;
}

/**
 * The submodules of a checkout and, as Git goes on into them, of its submodules. `enters` says of a submodule
 * whether its own are of interest.
 */
export function listGitlinks(
  places: OpenedPlaces,
  enters: (place: string) => boolean = () => true,
): Gitlinks {
  const links: Gitlink[] = [];
  const unreadable: string[] = [];
  const look = (git: PlaceName, repository: string, depth: number): void => {
    const paths = depth > deepest || links.length > most ? undefined : indexedGitlinks(places, git);
    if (paths === undefined) unreadable.push(repository);
    for (const path of paths ?? []) {
      const link = { repository, path };
      links.push(link);
      const place = placeOfGitlink(link);
      const inner = enters(place) ? gitDirectoryOf(places, place) : undefined;
      if (inner !== undefined) look(inner, place, depth + 1);
    }
  };
  look({ base: 'git', segments: [] }, '', 0);
  return { links, unreadable };
}

/**
 * Whether a submodule's `.git` is the pointer into `.git/modules` that Git itself makes, or is not there. What it
 * points to must be one of the folders that are looked through, or settings there would be nobody's concern.
 */
export function isSoundSubmodule(places: OpenedPlaces, path: string): boolean {
  const git = gitDirectoryOf(places, path);
  return git === undefined
    ? readPlace(places.root, [...path.split('/'), '.git']) === undefined
    : git.base === 'git' && isModuleFolder(places.git, git.segments);
}

/** Where Git finds the repository of a submodule, if that is in this checkout. */
export function gitDirectoryOf({ root, rootPath }: OpenedPlaces, path: string): PlaceName | undefined {
  const segments = [...path.split('/'), '.git'];
  const place = readPlace(root, segments);
  if (place?.kind === 'directory') return { base: 'root', segments };
  const line = /^gitdir: ([^\n]+)\n?$/u.exec(textOf(place) ?? '')?.[1];
  const target = line === undefined ? undefined : pointerTarget(line, `${rootPath}/${path}`);
  return target === undefined || !liesIn(target, rootPath)
    ? undefined
    : beneathModules(target.slice(rootPath.length + 1).split('/'), path);
}

/** A folder that the checkout, or a submodule with a repository of its own, keeps for the submodules in it. */
function beneathModules(segments: readonly string[], path: string): PlaceName | undefined {
  const at = segments.indexOf('.git');
  const isKept = at !== -1 && segments[at + 1] === 'modules' && segments.length > at + 2;
  if (!isKept || (at > 0 && !liesIn(path, segments.slice(0, at).join('/')))) return undefined;
  return at === 0 ? { base: 'git', segments: segments.slice(1) } : { base: 'root', segments };
}

/** What the index in a Git directory calls submodules; `undefined` where that index cannot be read. */
function indexedGitlinks(places: OpenedPlaces, git: PlaceName): string[] | undefined {
  let directory: Directory;
  try {
    directory = baseOf(places, git).walk(git.segments);
  } catch (error) {
    // Where there is no Git directory there is no index.
    if (error instanceof FileRefusal) return [];
    throw error;
  }
  try {
    return findIndexed(
      directory,
      hashBytesOf(textOf(readPlace(directory, ['config'])) ?? ''),
      ({ isGitlink }) => isGitlink,
    );
  } finally {
    directory.close();
  }
}
