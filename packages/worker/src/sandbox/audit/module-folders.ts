import type { Directory, EntryKind } from '../../files/directory.js';
import { FileRefusal } from '../../files/refusal.js';

/** Submodules lie in submodules, by names with slashes; what nests deeper than this Git did not make. */
const deepestModule = 12;

/** Git directories of submodules beneath a folder `modules`, and the folders on the way to them; follows no link. */
export function moduleFolders(git: Directory, top: readonly string[]): string[][] {
  return foldersBeneath(git, top, deepestModule);
}

/** Whether `moduleFolders` of the Git directory's `modules` finds this folder. */
export function isModuleFolder(git: Directory, segments: readonly string[]): boolean {
  const [top, ...beneath] = segments;
  if (top !== 'modules' || beneath.length === 0 || beneath.length > deepestModule) return false;
  return beneath.every((name, depth) => {
    const children = childrenOf(git, segments.slice(0, depth + 1));
    const child = children.find((each) => each.name === name);
    return child !== undefined && entered(children).includes(child);
  });
}

function foldersBeneath(git: Directory, at: readonly string[], depth: number): string[][] {
  if (depth === 0) return [];
  return entered(childrenOf(git, at)).flatMap((child) => {
    const path = [...at, child.name];
    return [path, ...foldersBeneath(git, path, depth - 1)];
  });
}

/** Inside a submodule's Git directory only its own submodules are of interest. */
function entered(children: readonly Child[]): readonly Child[] {
  const isGitDirectory = children.some((child) => child.name === 'HEAD');
  return children.filter(
    (child) => child.kind === 'directory' && (!isGitDirectory || child.name === 'modules'),
  );
}

interface Child {
  readonly name: string;
  readonly kind: EntryKind;
}

/** What is in a folder; nothing where it cannot be reached without following a link. */
export function childrenOf(base: Directory, segments: readonly string[]): readonly Child[] {
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
