import { CodelanesError } from '@codelanes/protocol';
import { Directory, sameFile } from '../files/directory.js';
import { openCheckout } from '../lanes/checkout.js';
import { laneHead, type LaneHead } from '../lanes/lane-head.js';
import { openWorktree, type WorktreeIdentity } from '../lanes/verify.js';
import { checkoutLane, worktreeLane, type LaneFacts } from '../sandbox/lane-facts.js';
import { emptySubmodules } from '../setup/empty-submodules.js';
import type { ServedRoot } from './served-root.js';
import { treeOf, type ServedTree } from './served-tree.js';

/** A lane that has just verified, held open. The caller closes it. */
export interface OpenedLane {
  readonly facts: LaneFacts;
  /** The lane's top. */
  readonly directory: Directory;
  /** Descriptor of the Git directory in which a killed Git leaves its `index.lock`. */
  readonly gitDescriptor: number | undefined;
  /** What a second verification is held against. */
  readonly identity: WorktreeIdentity | undefined;
  /** Of a worktree: tells where it stands, as of now. */
  readonly head?: (() => Promise<LaneHead>) | undefined;
  /** Of a worktree: the paths of its submodules that are empty, as of now. */
  readonly emptySubmodules?: (() => readonly string[]) | undefined;
  close(): void;
}

/**
 * Verifies and opens a lane of a root. Without Git: no process is started, no link followed.
 *
 * @throws {CodelanesError} `WORKER_MISMATCH` for what this root does not offer, `INVALID_REQUEST` or
 *   `REGISTRATION_INVALID` saying which check failed.
 */
export function openLane(root: ServedRoot, lane: readonly string[], expected?: WorktreeIdentity): OpenedLane {
  if (lane[0] !== root.id) {
    throw new CodelanesError('WORKER_MISMATCH', `Workspace "${root.id}" has no instances.`);
  }
  const tree = treeOf(root, lane);
  const last = lane.length > 1 ? lane.at(-1) : undefined;
  if (last?.startsWith('worktree:') === true) {
    return openLinkedWorktree(root, tree, last.slice('worktree:'.length), expected);
  }
  return tree.layout.kind === 'checkout' ? openWholeCheckout(tree) : openPlainRoot(root);
}

function openLinkedWorktree(
  root: ServedRoot,
  tree: ServedTree,
  name: string,
  expected?: WorktreeIdentity,
): OpenedLane {
  if (!tree.hasLanes || tree.layout.kind !== 'checkout') {
    throw new CodelanesError(
      'WORKER_MISMATCH',
      `Workspace "${root.id}" does not offer linked worktree lanes.`,
    );
  }
  const worktree = openWorktree(tree.layout.pin, name, expected);
  return {
    facts: worktreeLane(worktree),
    directory: worktree.directory,
    gitDescriptor: worktree.metadata.fd,
    identity: worktree.identity,
    head: () => laneHead(worktree.metadata, worktree.checkout.git),
    emptySubmodules: () =>
      emptySubmodules({ top: worktree.directory, git: worktree.metadata, common: worktree.checkout.git }),
    close: () => {
      worktree.close();
    },
  };
}

function openWholeCheckout(tree: ServedTree): OpenedLane {
  const pin = tree.layout.kind === 'checkout' ? tree.layout.pin : undefined;
  const checkout = openCheckout(tree.path, pin);
  return {
    facts: checkoutLane(checkout),
    directory: checkout.directory,
    gitDescriptor: checkout.git.fd,
    identity: undefined,
    close: () => {
      checkout.close();
    },
  };
}

function openPlainRoot(root: ServedRoot): OpenedLane {
  const directory = Directory.open(root.path);
  if (root.layout.kind === 'plain' && !sameFile(root.layout.identity, directory.stats)) {
    directory.close();
    throw new CodelanesError(
      'REGISTRATION_INVALID',
      `The folder of workspace "${root.id}" is not the one with which the worker started: restart the worker on the folder that is meant.`,
    );
  }
  return {
    facts: { kind: 'plain', root: root.path },
    directory,
    gitDescriptor: undefined,
    identity: undefined,
    close: () => {
      directory.close();
    },
  };
}
