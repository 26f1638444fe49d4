import { closeSync } from 'node:fs';
import { CodelanesError } from '@codelanes/protocol';
import { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import { openCheckout, type CheckoutPin, type OpenedCheckout } from './checkout.js';
import { pointerTarget, readPointer } from './git-pointer.js';
import { worktreeNames } from './worktrees.js';

/** The linked worktrees of a checkout before a command that may take them away. */
export class StandingWorktrees {
  readonly #pin: CheckoutPin;
  readonly #names: readonly string[];

  private constructor(pin: CheckoutPin, names: readonly string[]) {
    this.#pin = pin;
    this.#names = names;
  }

  /** Of a checkout that does not verify there are none. */
  static look(pin: CheckoutPin): StandingWorktrees {
    return new StandingWorktrees(
      pin,
      ofVerified<readonly string[]>([], () => worktreeNames(pin)),
    );
  }

  /**
   * Says of each that is no longer there and that nobody took out of Git's registration: `git clean -ffdx` does that,
   * and whoever meant to remove a worktree did not. Commits and branches are not touched by it.
   */
  lost(): readonly string[] {
    if (this.#names.length === 0) return [];
    const now = new Set(ofVerified<readonly string[]>(this.#names, () => worktreeNames(this.#pin)));
    const missing = this.#names.filter((name) => !now.has(name));
    if (missing.length === 0) return [];
    const registered = ofVerified(new Map<string, string>(), () => registeredIn(this.#pin));
    return missing.flatMap((name) => {
      const head = registered.get(name);
      return head === undefined ? [] : [lossOf(name, head)];
    });
  }
}

/** The lane wrote it, and whoever reads the sentence may run it: nothing that a shell would take for more than a word. */
const plainHead = /^\w[\w./+-]*$/u;

function lossOf(name: string, head: string): string {
  return `The worktree "${name}" is gone, and what was not committed there with it; Git still has it registered. To have it again, run "git worktree prune && git worktree add .worktrees/${name} ${head}" in the checkout.`;
}

/** Branch or commit of each registered worktree, by the name under which it would stand beneath `.worktrees`. */
function registeredIn(pin: CheckoutPin): Map<string, string> {
  const checkout = openCheckout(pin.root, pin);
  try {
    const entry = checkout.git.find('worktrees');
    if (entry?.kind !== 'directory') {
      if (entry !== undefined) closeSync(entry.fd);
      return new Map();
    }
    const registry = Directory.of(entry);
    try {
      const ids = registry.list().filter(({ kind }) => kind === 'directory');
      return new Map(ids.flatMap(({ name }) => registration(checkout, registry, name)));
    } finally {
      registry.close();
    }
  } finally {
    checkout.close();
  }
}

function registration(checkout: OpenedCheckout, registry: Directory, id: string): [string, string][] {
  let metadata: Directory | undefined;
  try {
    metadata = registry.child(id);
    const folder = `${checkout.gitDir}/worktrees/${id}`;
    const tree = pointerTarget(readPointer(metadata, 'gitdir').text, folder);
    const above = `${checkout.pin.root}/.worktrees/`;
    if (tree?.startsWith(above) !== true || !tree.endsWith('/.git')) return [];
    const head = readPointer(metadata, 'HEAD').text.replace(/^ref: refs\/heads\//u, '');
    const shown = plainHead.test(head) ? head : 'BRANCH';
    return [[tree.slice(above.length, -'/.git'.length), shown]];
  } catch (error) {
    if (error instanceof FileRefusal) return [];
    throw error;
  } finally {
    metadata?.close();
  }
}

/** What a look finds; something else where the checkout does not verify, or is closed to the worker. */
function ofVerified<T>(otherwise: T, look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (CodelanesError.is(error) || error instanceof FileRefusal) return otherwise;
    throw error;
  }
}
