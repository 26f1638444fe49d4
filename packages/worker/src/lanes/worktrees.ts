import { closeSync } from 'node:fs';
import { worktreeNameSchema } from '@codelanes/protocol';
import { Directory } from '../files/directory.js';
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

/** Names beneath `<root>/.worktrees` that a call could send, sorted; whether they verify is not looked at. */
export function worktreeNames(pin: CheckoutPin): string[] {
  const checkout = openCheckout(pin.root, pin);
  try {
    const entry = checkout.directory.find('.worktrees');
    if (entry === undefined) return [];
    if (entry.kind !== 'directory') {
      closeSync(entry.fd);
      return [];
    }
    const folder = Directory.of(entry);
    try {
      return folder
        .list()
        .filter(({ name, kind }) => kind !== 'file' && worktreeNameSchema.safeParse(name).success)
        .map(({ name }) => name)
        .sort();
    } finally {
      folder.close();
    }
  } finally {
    checkout.close();
  }
}
