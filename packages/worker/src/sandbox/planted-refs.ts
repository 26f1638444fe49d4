import { readlinkSync, statSync, unlinkSync } from 'node:fs';
import type { Directory, EntryKind } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import { removeTree } from './remove-tree.js';

/** More is not looked through: a repository with this many loose refs is not made by work. */
const maxEntries = 200_000;
/** Deeper no branch lies. What does is removed whole, else one lane could make every look at the refs fail. */
const maxDepth = 100;
/** Links that are named to the agent; of more only the number is told. */
const maxNamed = 5;
/** Git's file system monitor listens here. */
const monitorSocket = 'fsmonitor--daemon.ipc';

export interface SweptRefs {
  /** What was removed, each a sentence. */
  readonly notices: readonly string[];
  /** Why somebody has to look before the lane may be used again. */
  readonly quarantine?: string | undefined;
}

/**
 * Removes what is neither file nor folder, and what lies too deep, among a repository's refs, their logs, its packs
 * and the metadata of its worktrees. On a pipe there the operator's Git, and every lane's, would wait for ever. To a log it appends through
 * a symbolic link, a line with a branch's name in it, so that a lane could have the operator's next commit, or
 * the renaming of its branch, write into any file of theirs. Git makes no links there but for symbolic refs of
 * old, whose text begins with `refs/`, and a socket of its file system monitor; those stay, as do an operator's
 * links from packs to files. Call it when every
 * process of a call is gone. Follows no link, starts no process.
 *
 * @param metadata The only worktree's metadata that the call could write to, by its name; all without it.
 * @param most So many entries are looked through.
 */
export function removePlantedRefs(git: Directory, metadata?: string, most = maxEntries): SweptRefs {
  const sweep = new Sweep(most);
  const worktrees = metadata === undefined ? ['worktrees'] : ['worktrees', metadata];
  const places = [['refs'], ['logs', 'refs'], ['objects', 'pack'], worktrees];
  const complete = places.every((place) => sweep.at(git, place));
  const named = sweep.removed.slice(0, maxNamed).map((path) => `"${path}"`);
  const more = sweep.removed.length - named.length;
  const shown = more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
  return {
    notices:
      named.length === 0
        ? []
        : [
            `${shown}: only files, and folders at most ${maxDepth} deep, have a place there, so it was removed: Git would write through a link, and wait for a pipe.`,
          ],
    ...(complete
      ? {}
      : {
          quarantine: `More than ${most.toLocaleString('en')} files lie among the refs of the repository, their logs, its packs and its worktrees, too many to be looked through for planted ones: run "git pack-refs --all" in the checkout, and delete branches that nobody needs.`,
        }),
  };
}

class Sweep {
  readonly removed: string[] = [];
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  /** False where not everything was looked at. */
  at(git: Directory, place: readonly string[]): boolean {
    let directory: Directory;
    try {
      directory = git.walk(place);
    } catch (error) {
      return isNotThere(error);
    }
    return this.#through(directory, ['.git', ...place]);
  }

  #through(directory: Directory, path: readonly string[]): boolean {
    try {
      return directory.list().every((entry) => {
        this.#left -= 1;
        // A name that is no text cannot be named here, and no operator works on such a branch.
        if (this.#left < 0 || entry.name.includes('\uFFFD')) return this.#left >= 0;
        const inner = [...path, entry.name];
        if (entry.kind === 'symlink' || entry.kind === 'other')
          this.#remove(directory, entry, inner.join('/'));
        return entry.kind !== 'directory' || this.#into(directory, entry.name, inner);
      });
    } catch (error) {
      return isNotThere(error);
    } finally {
      directory.close();
    }
  }

  #into(parent: Directory, name: string, path: readonly string[]): boolean {
    if (path.length > maxDepth) {
      this.removed.push(`${path.slice(0, 4).join('/')}/…`);
      return removeTree(parent, name, this.#left);
    }
    let child: Directory;
    try {
      child = parent.child(name);
    } catch (error) {
      return isNotThere(error);
    }
    return this.#through(child, path);
  }

  #remove(parent: Directory, { name, kind }: { name: string; kind: EntryKind }, path: string): void {
    const place = parent.place(name);
    try {
      if (kind === 'symlink' ? isMeant(path, place) : name === monitorSocket) return;
      unlinkSync(place);
    } catch {
      // Another lane, which removes it itself at the end of its own call, was faster.
      return;
    }
    this.removed.push(path);
  }
}

function isMeant(path: string, place: string): boolean {
  if (path.startsWith('.git/objects/')) return statSync(place, { throwIfNoEntry: false })?.isFile() === true;
  const target = readlinkSync(place);
  const isRef = path.startsWith('.git/refs/') || /^\.git\/worktrees\/[^/]+\/(?:HEAD$|refs\/)/u.test(path);
  return isRef && target.startsWith('refs/') && !target.split('/').includes('..');
}

/** What went away meanwhile, or what nobody of this user may enter, leads no Git of theirs anywhere. */
function isNotThere(error: unknown): boolean {
  if (error instanceof FileRefusal) return true;
  throw error;
}
