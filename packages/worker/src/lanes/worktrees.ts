import { closeSync } from 'node:fs';
import { worktreeNameSchema } from '@codelanes/protocol';
import { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import { openCheckout, type CheckoutPin } from './checkout.js';
import { LaneRefusal } from './lane-refusal.js';
import { openWorktree } from './verify.js';

export interface ListedWorktrees {
  /** Names that verify now, sorted. */
  readonly verified: readonly string[];
  /** Names that do not, with the sentence that a call there would be answered. */
  readonly refused: readonly { readonly name: string; readonly message: string }[];
}

/**
 * What stands beneath `<root>/.worktrees`. Only names that a call could send are listed.
 *
 * @throws {LaneRefusal} `REGISTRATION_INVALID` where the checkout itself does not verify.
 */
export function listWorktrees(pin: CheckoutPin): ListedWorktrees {
  const verified: string[] = [];
  const refused: { name: string; message: string }[] = [];
  for (const name of worktreeNames(pin)) {
    try {
      openWorktree(pin, name).close();
      verified.push(name);
    } catch (error) {
      if (!(error instanceof LaneRefusal)) throw error;
      refused.push({ name, message: error.message });
    }
  }
  return { verified, refused };
}

/**
 * Names beneath `<root>/.worktrees` that a call could send, sorted; whether they verify is not looked at.
 *
 * @throws {LaneRefusal} as `worktreeBirths`.
 */
export function worktreeNames(pin: CheckoutPin): string[] {
  return [...worktreeBirths(pin).keys()];
}

/**
 * The same names, each with what tells its folder from an earlier one that bore it: the inode and when it was made.
 *
 * @throws {LaneRefusal} `REGISTRATION_INVALID` where the checkout does not verify, or a command of it has closed the
 *   folder of its worktrees to the worker.
 */
export function worktreeBirths(pin: CheckoutPin): ReadonlyMap<string, string> {
  const checkout = openCheckout(pin.root, pin);
  try {
    return birthsIn(checkout.directory);
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    throw new LaneRefusal(
      'checkout',
      'worktree_folder',
      `"${pin.root}/.worktrees" cannot be looked through: let the worker's user read and enter it again (chmod u+rwx).`,
      { cause: error },
    );
  } finally {
    checkout.close();
  }
}

/** @throws {FileRefusal} */
function birthsIn(checkout: Directory): ReadonlyMap<string, string> {
  const entry = checkout.find('.worktrees');
  if (entry === undefined) return new Map();
  if (entry.kind !== 'directory') {
    closeSync(entry.fd);
    return new Map();
  }
  const folder = Directory.of(entry);
  try {
    const names = folder
      .list()
      .filter(({ name, kind }) => kind !== 'file' && worktreeNameSchema.safeParse(name).success)
      .map(({ name }) => name)
      .sort();
    return new Map(names.map((name) => [name, birthOf(folder, name)]));
  } finally {
    folder.close();
  }
}

function birthOf(folder: Directory, name: string): string {
  const stats = folder.look(name)?.stats;
  return stats === undefined ? 'gone' : `${stats.ino} ${stats.birthtimeNs}`;
}
