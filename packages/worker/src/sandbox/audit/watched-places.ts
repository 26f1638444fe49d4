import type { Directory, EntryKind } from '../../files/directory.js';
import { FileRefusal } from '../../files/refusal.js';
import { baseOf, type OpenedPlaces, type PlaceName } from './opened-places.js';
import { readPlace } from './place.js';

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
  ['worktrees'],
  ['modules'],
];
const namesInMetadata = ['commondir', 'gitdir', 'config.worktree'];
/** Submodules lie in submodules, by names with slashes; what nests deeper than this Git did not make. */
const deepestModule = 12;

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
  const embedded = ofSubmodules.filter((segments) => readPlace(root, segments)?.kind === 'directory');
  return [
    ...namesInAll(places, { base: 'git', segments: [] }),
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
  const modules = foldersBeneath(base, [...git.segments, 'modules'], deepestModule);
  return [git.segments, ...modules].flatMap((prefix) =>
    namesIn(base, prefix).map((segments): PlaceName => ({ base: git.base, segments })),
  );
}

function namesIn(base: Directory, prefix: readonly string[]): string[][] {
  const hooks = childrenOf(base, [...prefix, 'hooks'])
    // Git runs hooks by their exact name.
    .filter((child) => !child.name.endsWith('.sample'))
    .map((child) => ['hooks', child.name]);
  // Git at the operator's hand writes through a link that stands for its index or a log.
  const links = [[], ['logs']].flatMap((folder) =>
    childrenOf(base, [...prefix, ...folder])
      .filter((child) => child.kind === 'symlink')
      .map((child) => [...folder, child.name]),
  );
  const metadata = childrenOf(base, [...prefix, 'worktrees']).flatMap((child) => [
    ['worktrees', child.name],
    ...namesInMetadata.map((name) => ['worktrees', child.name, name]),
  ]);
  return [...namesInGitDirectory, ...hooks, ...metadata, ...links].map((segments) => [
    ...prefix,
    ...segments,
  ]);
}

function foldersBeneath(git: Directory, at: readonly string[], depth: number): string[][] {
  if (depth === 0) return [];
  const children = childrenOf(git, at);
  // Inside a submodule's Git directory only its own submodules are of interest.
  const isGitDirectory = children.some((child) => child.name === 'HEAD');
  return children
    .filter((child) => child.kind === 'directory' && (!isGitDirectory || child.name === 'modules'))
    .flatMap((child) => {
      const path = [...at, child.name];
      return [path, ...foldersBeneath(git, path, depth - 1)];
    });
}

function childrenOf(base: Directory, segments: readonly string[]): { name: string; kind: EntryKind }[] {
  let directory: Directory;
  try {
    directory = base.walk(segments);
  } catch (error) {
    if (error instanceof FileRefusal) return [];
    throw error;
  }
  try {
    return directory.list().filter((entry) => !entry.name.includes('\uFFFD'));
  } finally {
    directory.close();
  }
}
