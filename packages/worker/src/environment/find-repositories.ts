import { closeSync } from 'node:fs';
import { Directory, identityOf, sameFile, segmentsOf, type FileIdentity } from '../files/directory.js';
import { explainGitFile } from '../files/git-file.js';
import { FileRefusal } from '../files/refusal.js';
import type { MountTable } from './mount-table.js';

/** Where a declared repository was found. */
export interface FoundRepository {
  /** Canonical path of the checkout. */
  readonly checkout: string;
  readonly identity: FileIdentity;
  /** Its Git directory, `<checkout>/.git`, which is its common directory too. */
  readonly gitIdentity: FileIdentity;
}

/** A declared path at which no checkout with lanes of its own stands. */
export class RepositoryFault extends Error {
  override readonly name = 'RepositoryFault';
  /** Which of the paths. */
  readonly index: number;

  constructor(index: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.index = index;
  }
}

export interface FoundRepositories<Declared> {
  readonly found: readonly (Declared & FoundRepository)[];
  /** Of the others, one each. */
  readonly faults: readonly RepositoryFault[];
}

/**
 * Finds the checkouts of declared repositories beneath a canonical root, following no link. Each is a real folder with
 * a real `.git` in it that is its own; none is the root, another one, or a folder of another one under a second name.
 * Starts no process.
 */
export function findRepositories<Declared extends { readonly path: string }>(
  root: string,
  declared: readonly Declared[],
  mounts: MountTable,
): FoundRepositories<Declared> {
  const top = Directory.open(root);
  try {
    const found: (Declared & FoundRepository)[] = [];
    const faults: RepositoryFault[] = [];
    for (const [index, each] of declared.entries()) {
      try {
        const repository = { ...each, ...findRepository(top, each.path, index) };
        for (const earlier of found) refuseShared(index, repository, earlier, mounts);
        found.push(repository);
      } catch (error) {
        if (!(error instanceof RepositoryFault)) throw error;
        faults.push(error);
      }
    }
    return { found, faults };
  } finally {
    top.close();
  }
}

function findRepository(top: Directory, path: string, index: number): FoundRepository {
  const checkout = openCheckout(top, path, index);
  try {
    if (sameFile(identityOf(checkout.stats), top.stats)) {
      throw new RepositoryFault(
        index,
        'is the root itself under another name; expected a folder beneath it.',
      );
    }
    const git = openGitDirectory(checkout, index);
    try {
      refuseRedirect(git, index);
      return {
        checkout: checkout.path(),
        identity: identityOf(checkout.stats),
        gitIdentity: identityOf(git.stats),
      };
    } finally {
      git.close();
    }
  } finally {
    checkout.close();
  }
}

function openCheckout(top: Directory, path: string, index: number): Directory {
  try {
    return top.walk(segmentsOf(path));
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    throw new RepositoryFault(index, checkoutSentences[error.fault] ?? error.message, { cause: error });
  }
}

const checkoutSentences: Partial<Record<FileRefusal['fault'], string>> = {
  not_found: 'there is no such folder beneath the root; expected the path of a checkout.',
  symlink: 'leads through a symbolic link; expected the path of the real folder.',
  not_a_directory: 'is not a folder; expected the path of a checkout.',
};

function openGitDirectory(checkout: Directory, index: number): Directory {
  const entry = checkout.find('.git');
  if (entry === undefined) {
    throw new RepositoryFault(
      index,
      'is no checkout, as it has no .git; expected the main working tree of a repository.',
    );
  }
  if (entry.kind === 'directory') return Directory.of(entry);
  try {
    if (entry.kind === 'file') {
      const { is, remedy } = explainGitFile(entry);
      throw new RepositoryFault(
        index,
        `is ${is}, as its .git is a file; expected the main working tree of a repository with a .git directory of its own: ${remedy}.`,
      );
    }
    throw new RepositoryFault(
      index,
      'has a .git that is not a real directory; expected the main working tree of a repository.',
    );
  } finally {
    closeSync(entry.fd);
  }
}

/** With a `commondir` in it, Git would take another directory for the repository's own. */
function refuseRedirect(git: Directory, index: number): void {
  const entry = git.find('commondir');
  if (entry === undefined) return;
  closeSync(entry.fd);
  throw new RepositoryFault(
    index,
    'has a .git that leads to another Git directory (.git/commondir); expected a repository of its own.',
  );
}

function refuseShared(
  index: number,
  one: FoundRepository,
  other: FoundRepository & { readonly path: string },
  mounts: MountTable,
): void {
  if (sameFile(one.gitIdentity, other.gitIdentity)) {
    throw new RepositoryFault(
      index,
      `shares the Git directory of "${other.path}"; expected a repository of its own.`,
    );
  }
  if (mounts.isReachable(one.checkout, other.checkout) || mounts.isReachable(other.checkout, one.checkout)) {
    throw new RepositoryFault(
      index,
      `is, holds or lies in the folder of "${other.path}" under another name; expected one path for one folder.`,
    );
  }
}
