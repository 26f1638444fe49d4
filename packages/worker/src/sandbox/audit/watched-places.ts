import type { Directory } from '../../files/directory.js';
import { gitDirectoryOf } from './gitlinks.js';
import { childrenOf, moduleFolders } from './module-folders.js';
import { baseOf, type OpenedPlaces, type PlaceName } from './opened-places.js';
import { readPlace } from './place.js';
import { rebaseTodo } from './planned-commands.js';

/** Folders whose exchange for a link would lead Git elsewhere, and files that say what Git runs or where it looks. */
const namesInGitDirectory: readonly (readonly string[])[] = [
  ['config'],
  ['config.worktree'],
  ['commondir'],
  ['info'],
  ['info', 'attributes'],
  ['objects'],
  ['objects', 'info'],
  ['objects', 'info', 'alternates'],
  ['hooks'],
  ['remotes'],
  ['branches'],
  ['worktrees'],
  ['modules'],
  rebaseTodo,
];
const namesInMetadata = ['commondir', 'gitdir', 'config.worktree'];

/**
 * Every name by which Git can be made to run code or to look elsewhere, as far as it is there now or belongs to
 * every Git directory: of the repository, of its submodules, whose places are given, and of its worktrees.
 */
export function watchedNames(places: OpenedPlaces, submodules: readonly string[]): PlaceName[] {
  const { root } = places;
  const pointers = childrenOf(root, ['.worktrees'])
    .filter((child) => child.kind === 'directory')
    .map((child) => ['.worktrees', child.name, '.git']);
  const ofSubmodules = submodules.map((path) => [...path.split('/'), '.git']);
  // Where they lie by their pointers, which need not be where a look through the folders finds them.
  const pointedTo = submodules.flatMap((path) => gitDirectoryOf(places, path) ?? []);
  const embedded = ofSubmodules.filter((segments) => readPlace(root, segments)?.kind === 'directory');
  return [
    ...namesInAll(places, { base: 'git', segments: [] }),
    ...pointedTo.flatMap(({ base, segments }) =>
      namesIn(baseOf(places, { base, segments }), segments).map((name): PlaceName => ({
        base,
        segments: name,
      })),
    ),
    ...embedded.flatMap((segments) => namesInAll(places, { base: 'root', segments })),
    ...[['.git'], ['.worktrees'], ...pointers, ...ofSubmodules].map((segments): PlaceName => ({
      base: 'root',
      segments,
    })),
  ];
}

/** The watched names of a Git directory and of all beneath its `modules`. */
function namesInAll(places: OpenedPlaces, git: PlaceName): PlaceName[] {
  const base = baseOf(places, git);
  const top = [...git.segments, 'modules'];
  const names = [git.segments, ...moduleFolders(base, top)].flatMap((prefix) => namesIn(base, prefix));
  return [...names, ...linksIn(base, top)].map((segments): PlaceName => ({ base: git.base, segments }));
}

function namesIn(base: Directory, prefix: readonly string[]): string[][] {
  const hooks = childrenOf(base, [...prefix, 'hooks'])
    // Git runs hooks by their exact name.
    .filter((child) => !child.name.endsWith('.sample'))
    .map((child) => ['hooks', child.name]);
  // A remote of that name that the settings do not know is read from there.
  const remotes = ['remotes', 'branches'].flatMap((folder) =>
    childrenOf(base, [...prefix, folder]).map((child) => [folder, child.name]),
  );
  const metadata = childrenOf(base, [...prefix, 'worktrees']).flatMap((child) => [
    ['worktrees', child.name],
    ...namesInMetadata.map((name) => ['worktrees', child.name, name]),
  ]);
  const names = [...namesInGitDirectory, ...hooks, ...remotes, ...metadata];
  return [
    ...names.map((segments) => [...prefix, ...segments]),
    // Git at the operator's hand writes through a link that stands for its index or a log.
    ...linksIn(base, prefix),
    ...linksIn(base, [...prefix, 'logs']),
  ];
}

function linksIn(base: Directory, folder: readonly string[]): string[][] {
  return childrenOf(base, folder)
    .filter((child) => child.kind === 'symlink')
    .map((child) => [...folder, child.name]);
}
