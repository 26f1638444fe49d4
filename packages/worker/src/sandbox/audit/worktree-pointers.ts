import { pointerTarget } from '../../lanes/git-pointer.js';
import { liesIn } from '../../files/lies-in.js';
import { readPlace, textOf } from './place.js';
import type { OpenedPlaces, PlaceName } from './opened-places.js';

/**
 * Whether a changed pointer between worktrees and metadata is one that `git worktree` itself makes: metadata
 * belongs to this repository, and both sides name each other or the other side is not there (any more).
 */
export function isSoundPointer(places: OpenedPlaces, { base, segments }: PlaceName): boolean {
  if (base === 'root') {
    const [folder, name, file] = segments;
    return folder === '.worktrees' && name !== undefined && file === '.git' && isSoundWorktree(places, name);
  }
  const [folder, id, file] = segments;
  if (folder !== 'worktrees' || id === undefined) return false;
  if (file === undefined) return readPlace(places.git, segments)?.kind !== 'symlink';
  return (file === 'commondir' || file === 'gitdir') && isSoundMetadata(places, id);
}

function isSoundWorktree(places: OpenedPlaces, name: string): boolean {
  const place = readPlace(places.root, ['.worktrees', name, '.git']);
  // A repository of its own is not one of this checkout's worktrees; verification lets no lane into it.
  if (place === undefined || place.kind === 'directory') return true;
  const folder = `${places.rootPath}/.worktrees/${name}`;
  const target = pointed(textOf(place)?.replace(/^gitdir: /u, ''), folder);
  const metadata = `${places.gitPath}/worktrees`;
  if (target === undefined || !liesIn(target, metadata)) return false;
  const id = target.slice(metadata.length + 1);
  if (id === '' || id.includes('/')) return false;
  return pointed(lineIn(places, id, 'gitdir'), target) === `${folder}/.git` && isOwn(places, id);
}

function isSoundMetadata(places: OpenedPlaces, id: string): boolean {
  if (readPlace(places.git, ['worktrees', id]) === undefined) return true;
  const metadata = `${places.gitPath}/worktrees/${id}`;
  const pointer = pointed(lineIn(places, id, 'gitdir'), metadata);
  if (pointer === undefined || !isOwn(places, id)) return false;
  if (!liesIn(pointer, places.rootPath)) return true;
  const segments = pointer.slice(places.rootPath.length + 1).split('/');
  const place = readPlace(places.root, segments);
  if (place === undefined) return true;
  const back = textOf(place)?.replace(/^gitdir: /u, '');
  return pointed(back, pointer.slice(0, -'/.git'.length)) === metadata;
}

function isOwn(places: OpenedPlaces, id: string): boolean {
  return pointed(lineIn(places, id, 'commondir'), `${places.gitPath}/worktrees/${id}`) === places.gitPath;
}

function lineIn(places: OpenedPlaces, id: string, file: string): string | undefined {
  return textOf(readPlace(places.git, ['worktrees', id, file]));
}

function pointed(text: string | undefined, folder: string): string | undefined {
  const line = text?.replace(/\n$/u, '');
  return line === undefined || line === '' || line.includes('\n') ? undefined : pointerTarget(line, folder);
}
