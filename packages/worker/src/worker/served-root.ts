import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { laneKey, laneOf, type Lane, type LaneRoutingMode } from '@codelanes/protocol';
import { noNetwork } from '../environment/network-policy.js';
import { RootError, type RepositoryRequest, type Root } from '../environment/roots.js';
import type { EnvironmentSetup } from '../environment/setup.js';
import type { Storage } from '../environment/storage.js';
import { identityOf, sameFile, type FileIdentity } from '../files/directory.js';
import { pinCheckout, type CheckoutPin } from '../lanes/checkout.js';
import { Journal } from '../lanes/journal.js';
import { LaneRefusal } from '../lanes/lane-refusal.js';
import { hostProcesses } from '../lanes/processes.js';
import { Quarantine } from '../lanes/quarantine.js';
import { MachineLock } from '../lanes/machine-lock.js';
import { RootLock, rootKey } from '../lanes/root-lock.js';
import type { WorktreeIdentity } from '../lanes/verify.js';
import { worktreeMark } from '../lanes/worktree-mark.js';
import { worktreeBirths } from '../lanes/worktrees.js';
import type { HomeOwner } from '../sandbox/lane-home.js';
import { findSharedCache, type SharedCache } from '../sandbox/shared-cache.js';
import { SetupStates } from '../setup/setup-states.js';
import { treeOf, type Layout, type ServedRepository, type TreeOfTrees } from './served-tree.js';

/** One root in the hands of this worker: locked, with its journal and quarantine open. */
export interface ServedRoot extends TreeOfTrees {
  readonly id: string;
  /** How calls that name no lane get theirs. */
  readonly laneRouting: LaneRoutingMode | undefined;
  readonly read: readonly string[];
  /** Caches of the machine that its commands share. */
  readonly caches: readonly SharedCache[];
  /** Runs before the root is offered, where the disk has room for it. */
  readonly setup: EnvironmentSetup | undefined;
  readonly storage: Storage | undefined;
  readonly journal: Journal;
  readonly quarantine: Quarantine;
  close(): Promise<void>;
}

/** Where the state of a root is kept; a root is known by device and inode, whatever it is called. */
export function rootStateDir(stateDir: string, identity: FileIdentity): string {
  return join(stateDir, 'roots', rootKey(identity));
}

/** Where the scripts of a root have their folders while they run. */
export function scriptsFolder({ stateDir }: Pick<ServedRoot, 'stateDir'>): string {
  return join(stateDir, 'scripts');
}

/**
 * Whose home a lane has. A worktree that is made anew under its name is another owner, and so is a repository that takes
 * the place of another.
 *
 * @param worktree as verified; undefined for a lane that is no worktree.
 */
export function homeOwner(
  root: ServedRoot,
  lane: Lane,
  { identity }: { readonly identity: WorktreeIdentity | undefined },
): HomeOwner {
  const tree = basename(treeOf(root, lane).stateDir);
  return {
    // Folders of one name are served under one id.
    lane: `${basename(root.stateDir)} ${laneKey(lane)}`,
    tree: identity === undefined ? tree : `${tree} ${worktreeMark(identity)}`,
  };
}

/**
 * Takes a root: its locks first, then everything that only their holder may open.
 *
 * @throws {RootError} where another worker holds it, or a repository is not the one that was declared.
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
      laneRouting: root.laneRouting,
      network: root.network ?? noNetwork,
      definition: root.definition,
      read: root.read,
      caches: (root.resources ?? []).map(findSharedCache),
      setup: root.setup,
      storage: root.storage,
      stateDir: folder,
      repositories: (root.repositories ?? []).map((declared) => servedRepository(root, declared, stateDir)),
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

function servedRepository(root: Root, declared: RepositoryRequest, stateDir: string): ServedRepository {
  const { path, workspaceId, checkout, slots, network = noNetwork, definition, setup } = declared;
  const pin = pinRepository(root, declared);
  const folder = rootStateDir(stateDir, declared.identity);
  return {
    repository: path,
    workspaceId,
    path: checkout,
    lane: laneOf({ workspaceId: root.id, repository: path }),
    layout: { kind: 'checkout', pin },
    hasLanes: root.linkedWorktreeLanes,
    network,
    definition,
    stateDir: folder,
    slots,
    setups: setup && SetupStates.open(setup, folder, worktreeBirths(pin)),
  };
}

function pinRepository(
  { id }: Root,
  { path, checkout, identity, gitIdentity }: RepositoryRequest,
): CheckoutPin {
  let pin: CheckoutPin;
  try {
    pin = pinCheckout(checkout);
  } catch (error) {
    if (!(error instanceof LaneRefusal)) throw error;
    throw new RootError(`The repository "${path}" of "${id}" cannot be served. ${error.message}`, {
      cause: error,
    });
  }
  const isFound =
    pin.root === checkout && sameFile(pin.rootIdentity, identity) && sameFile(pin.gitIdentity, gitIdentity);
  if (isFound) return pin;
  throw new RootError(
    `The repository "${path}" of "${id}" was replaced while the worker started: start it again.`,
  );
}
