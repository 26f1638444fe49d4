import { closeSync } from 'node:fs';
import { Directory, identityOf, sameFile, type FileIdentity } from '../files/directory.js';
import { explainGitFile } from '../files/git-file.js';
import { FileRefusal } from '../files/refusal.js';
import { readAlternates } from './alternates.js';
import { LaneRefusal, type LaneCheck } from './lane-refusal.js';

/** What a worker records of a checkout when it starts, and holds every later use against. */
export interface CheckoutPin {
  /** Canonical path. */
  readonly root: string;
  readonly rootIdentity: FileIdentity;
  readonly gitIdentity: FileIdentity;
  /** Object stores that this repository borrows from, as they were then. */
  readonly alternates: readonly string[];
}

/** A checkout that has just verified. The caller calls `close`. */
export interface OpenedCheckout {
  readonly kind: 'checkout';
  /** Canonical path. */
  readonly root: string;
  /** The Git directory, `<root>/.git`, which is also the common directory of its worktrees. */
  readonly gitDir: string;
  readonly directory: Directory;
  readonly git: Directory;
  readonly pin: CheckoutPin;
  close(): void;
}

/**
 * Opens a checkout that can have lanes: its `.git` is a real directory with real object and ref storage in it.
 * With a pin, root, `.git` and path must be those of the pin. Starts no process.
 *
 * @throws {LaneRefusal} `REGISTRATION_INVALID`
 */
export function openCheckout(root: string, pin?: CheckoutPin): OpenedCheckout {
  const directory = openRoot(root);
  try {
    const path = directory.path();
    const git = openGitDirectory(directory, path);
    try {
      refuseStorage(git, path);
      if (pin !== undefined) refuseReplaced(pin, path, directory, git);
      return {
        kind: 'checkout',
        root: path,
        gitDir: `${path}/.git`,
        directory,
        git,
        pin: pin ?? capture(path, directory, git),
        close: () => {
          git.close();
          directory.close();
        },
      };
    } catch (error) {
      git.close();
      throw error;
    }
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** Verifies a checkout once and records what later uses are held against. */
export function pinCheckout(root: string): CheckoutPin {
  const checkout = openCheckout(root);
  checkout.close();
  return checkout.pin;
}

function openRoot(root: string): Directory {
  try {
    return Directory.open(root);
  } catch (error) {
    throw refuse(
      'checkout_folder',
      `The checkout "${root}" is not a folder that the worker can open: restore it, or restart the worker without it.`,
      error,
    );
  }
}

function openGitDirectory(root: Directory, path: string): Directory {
  const entry = found(root, '.git', (name) => root.find(name));
  if (entry === undefined) {
    throw refuse(
      'git_directory',
      `"${path}" has no .git directory, so it has no lanes: serve a checkout in its place, or name the repositories beneath it in a definition.`,
    );
  }
  if (entry.kind === 'directory') return Directory.of(entry);
  try {
    if (entry.kind === 'file') {
      const { is, remedy } = explainGitFile(entry);
      throw refuse(
        'git_directory',
        `".git" of "${path}" is a file, since it is ${is}, so it has no lanes: ${remedy}.`,
      );
    }
    throw refuse(
      'git_directory',
      `".git" of "${path}" is not a real directory, so it has no lanes: serve the main working tree of a repository in its place.`,
    );
  } finally {
    closeSync(entry.fd);
  }
}

function refuseStorage(git: Directory, path: string): void {
  for (const [name, needed] of [
    ['objects', true],
    ['refs', true],
    ['worktrees', false],
    ['logs', false],
  ] as const) {
    const entry = found(git, name, (known) => git.look(known));
    if (entry === undefined ? !needed : entry.kind === 'directory') continue;
    const fault = entry === undefined ? 'is missing' : 'is not a real directory';
    throw refuse(
      'git_storage',
      `"${path}/.git/${name}" ${fault}, so the repository has no lanes: put it back as Git makes it.`,
    );
  }
  if (found(git, 'reftable', (name) => git.look(name)) === undefined) return;
  throw refuse(
    'git_storage',
    `The repository "${path}" keeps its refs as a reftable, of which a lane cannot be given a part: convert it with "git refs migrate --ref-format=files".`,
  );
}

function refuseReplaced(pin: CheckoutPin, path: string, root: Directory, git: Directory): void {
  const what = !sameFile(pin.rootIdentity, root.stats)
    ? 'folder'
    : !sameFile(pin.gitIdentity, git.stats)
      ? '.git directory'
      : undefined;
  if (what === undefined && path === pin.root) return;
  throw refuse(
    'identity',
    what === undefined
      ? `The checkout "${pin.root}" has been moved to "${path}": restart the worker on the folder that is meant.`
      : `The ${what} of the checkout "${pin.root}" is not the one with which the worker started: restart the worker on the folder that is meant.`,
  );
}

function capture(root: string, directory: Directory, git: Directory): CheckoutPin {
  const objects = git.child('objects');
  try {
    return {
      root,
      rootIdentity: identityOf(directory.stats),
      gitIdentity: identityOf(git.stats),
      alternates: readAlternates(objects).directories,
    };
  } finally {
    objects.close();
  }
}

/** What a look at a name of that directory finds. */
function found<T>(directory: Directory, name: string, look: (name: string) => T): T {
  try {
    return look(name);
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    throw refuse('git_storage', `"${directory.path()}/${name}" cannot be looked at: ${error.message}`, error);
  }
}

function refuse(check: LaneCheck, message: string, cause?: unknown): LaneRefusal {
  return new LaneRefusal('checkout', check, message, { cause });
}
