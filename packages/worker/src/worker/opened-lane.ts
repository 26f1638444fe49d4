import { CodelanesError } from '@codelanes/protocol';
import type { LaneFields } from '@codelanes/protocol';
import { Directory, sameFile } from '../files/directory.js';
import { openCheckout } from '../lanes/checkout.js';
import { openWorktree, type WorktreeIdentity } from '../lanes/verify.js';
import { checkoutLane, worktreeLane, type LaneFacts } from '../sandbox/lane-facts.js';
import type { ServedRoot } from './served-root.js';

/** A lane that has just verified, held open. The caller closes it. */
export interface OpenedLane {
  readonly facts: LaneFacts;
  /** The lane's top. */
  readonly directory: Directory;
  /** Descriptor of the Git directory in which a killed Git leaves its `index.lock`. */
  readonly gitDescriptor: number | undefined;
  /** What a second verification is held against. */
  readonly identity: WorktreeIdentity | undefined;
  close(): void;
}

/**
 * Verifies and opens the lane that a call names. Without Git: no process is started, no link followed.
 *
 * @throws {CodelanesError} `WORKER_MISMATCH` for a field that this root does not offer, `INVALID_REQUEST` or
 *   `REGISTRATION_INVALID` saying which check failed.
 */
export function openLane(root: ServedRoot, fields: LaneFields, expected?: WorktreeIdentity): OpenedLane {
  if (fields.repository !== undefined || fields.workspaceInstanceId !== undefined) {
    throw new CodelanesError(
      'WORKER_MISMATCH',
      `Workspace "${root.id}" has neither repositories nor instances.`,
    );
  }
  if (fields.worktree !== undefined) return openLinkedWorktree(root, fields.worktree, expected);
  return root.layout.kind === 'checkout' ? openWholeCheckout(root) : openPlainRoot(root);
}

/** As `openLane`, for a lane that was kept by its path of segments: in a journal or a quarantine. */
export function reopenLane(root: ServedRoot, lane: readonly string[]): OpenedLane {
  const worktree = lane.find((segment) => segment.startsWith('worktree:'))?.slice('worktree:'.length);
  return openLane(root, { workspaceId: root.id, worktree });
}

function openLinkedWorktree(root: ServedRoot, name: string, expected?: WorktreeIdentity): OpenedLane {
  if (!root.hasLanes || root.layout.kind !== 'checkout') {
    throw new CodelanesError(
      'WORKER_MISMATCH',
      `Workspace "${root.id}" does not offer linked worktree lanes.`,
    );
  }
  const worktree = openWorktree(root.layout.pin, name, expected);
  return {
    facts: worktreeLane(worktree),
    directory: worktree.directory,
    gitDescriptor: worktree.metadata.fd,
    identity: worktree.identity,
    close: () => {
      worktree.close();
    },
  };
}

function openWholeCheckout(root: ServedRoot): OpenedLane {
  const pin = root.layout.kind === 'checkout' ? root.layout.pin : undefined;
  const checkout = openCheckout(root.path, pin);
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
