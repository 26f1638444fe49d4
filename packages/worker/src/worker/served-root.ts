import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { laneKey, type Lane } from '@codelanes/protocol';
import type { Root } from '../environment/roots.js';
import { identityOf, type FileIdentity } from '../files/directory.js';
import { pinCheckout, type CheckoutPin } from '../lanes/checkout.js';
import { Journal } from '../lanes/journal.js';
import { LaneRefusal } from '../lanes/lane-refusal.js';
import { hostProcesses } from '../lanes/processes.js';
import { Quarantine } from '../lanes/quarantine.js';
import { MachineLock } from '../lanes/machine-lock.js';
import { RootLock, rootKey } from '../lanes/root-lock.js';

/** What stands at a root: a checkout with its lanes, or a plain folder, which is one lane. */
export type Layout =
  | { readonly kind: 'checkout'; readonly pin: CheckoutPin }
  | { readonly kind: 'plain'; readonly identity: FileIdentity; readonly why: string };

/** One root in the hands of this worker: locked, with its journal and quarantine open. */
export interface ServedRoot {
  readonly id: string;
  /** Canonical path; never leaves the worker. */
  readonly path: string;
  readonly lane: Lane;
  readonly layout: Layout;
  /** Linked worktrees are lanes here. */
  readonly hasLanes: boolean;
  readonly read: readonly string[];
  /** What is kept of this root: journal, quarantine, snapshots. */
  readonly stateDir: string;
  readonly journal: Journal;
  readonly quarantine: Quarantine;
  close(): Promise<void>;
}

/** Where the state of a root is kept; a root is known by device and inode, whatever it is called. */
export function rootStateDir(stateDir: string, identity: FileIdentity): string {
  return join(stateDir, 'roots', rootKey(identity));
}

/** Names the home of a lane among those of a state folder: folders of one name are served under one id. */
export function homeKey({ stateDir }: ServedRoot, lane: Lane): string {
  return `${basename(stateDir)} ${laneKey(lane)}`;
}

/**
 * Takes a root: its locks first, then everything that only their holder may open.
 *
 * @throws {RootError} where another worker holds it.
 */
export async function takeRoot(root: Root, stateDir: string): Promise<ServedRoot> {
  const identity = identityOf(statSync(root.root, { bigint: true }));
  const taken: { close(): Promise<void> | void }[] = [];
  const close = async () => {
    for (const each of taken.splice(0).reverse()) await each.close();
  };
  try {
    taken.push(RootLock.take(stateDir, identity, root.root));
    taken.push(await MachineLock.take(identity, root.root));
    const folder = rootStateDir(stateDir, identity);
    const journal = await Journal.open(join(folder, 'journal'));
    taken.push(journal);
    const quarantine = await Quarantine.open(join(folder, 'quarantine'), hostProcesses);
    taken.push(quarantine);
    const layout = layoutOf(root.root, identity);
    return {
      id: root.id,
      path: root.root,
      lane: [root.id],
      layout,
      hasLanes: root.linkedWorktreeLanes && layout.kind === 'checkout',
      read: root.read,
      stateDir: folder,
      journal,
      quarantine,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function layoutOf(path: string, identity: FileIdentity): Layout {
  try {
    return { kind: 'checkout', pin: pinCheckout(path) };
  } catch (error) {
    if (!(error instanceof LaneRefusal)) throw error;
    return { kind: 'plain', identity, why: error.message };
  }
}
