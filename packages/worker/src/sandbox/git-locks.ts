import type { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';

/** More is not looked through: a repository with this many loose refs is not made by work. */
const maxEntries = 200_000;
const maxDepth = 100;

/**
 * The locks of Git that lie in a repository, as paths beneath its Git directory: `index.lock`, `HEAD.lock`,
 * `config.lock`, `packed-refs.lock` and whatever else is locked beside them, in the metadata of its worktrees, and
 * among its refs. Follows no link, starts no process.
 *
 * @param metadata the only worktree's metadata that counts, by its name, where a call may write to no other and not to
 *   the Git directory itself.
 */
export function gitLocks(git: Directory, metadata?: string): readonly string[] {
  const search = new LockSearch();
  if (metadata === undefined) {
    search.in(git, [], 0);
    search.in(git, ['worktrees'], 1);
  } else {
    search.in(git, ['worktrees', metadata], 0);
  }
  search.in(git, ['refs'], maxDepth);
  return search.found;
}

class LockSearch {
  readonly found: string[] = [];
  #left = maxEntries;

  in(git: Directory, place: readonly string[], depth: number): void {
    let directory: Directory;
    try {
      directory = git.walk(place);
    } catch (error) {
      skipMissing(error);
      return;
    }
    this.#through(directory, place, depth);
  }

  #through(directory: Directory, path: readonly string[], depth: number): void {
    try {
      for (const { name, kind } of directory.list()) {
        this.#left -= 1;
        if (this.#left < 0) return;
        const inner = [...path, name];
        if (kind === 'file' && name.endsWith('.lock')) this.found.push(inner.join('/'));
        if (kind === 'directory' && depth > 0) this.#through(directory.child(name), inner, depth - 1);
      }
    } catch (error) {
      skipMissing(error);
    } finally {
      directory.close();
    }
  }
}

/** What went away meanwhile holds no lock. */
function skipMissing(error: unknown): void {
  if (!(error instanceof FileRefusal)) throw error;
}
