import { Directory } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import type { LaneFacts, WorktreeLane } from './lane-facts.js';
import {
  checkoutPolicy,
  plainRootPolicy,
  worktreePolicy,
  type PolicyFacts,
  type RepositoryFacts,
} from './lane-policies.js';
import { openPins, readPinned, type Pins } from './pins.js';
import type { Policy } from './policy.js';
import { pinSharedCaches } from './shared-cache.js';

/** A policy and the opened places that it mounts. Whoever makes one closes it once the sandbox has started. */
export interface LaneSandbox {
  readonly policy: Policy;
  readonly descriptors: ReadonlyMap<string, number>;
  readonly close: () => void;
}

/**
 * Opens a lane's places and makes its policy. For a worktree, verification's descriptors must still be open.
 *
 * @throws {CodelanesError} `COMMAND_UNAVAILABLE` as `openPins` and `pinSharedCaches`.
 */
export function openLaneSandbox(lane: LaneFacts, facts: PolicyFacts): LaneSandbox {
  const pins = openPins(lane);
  try {
    pinSharedCaches(pins, facts.caches ?? []);
    return {
      policy: policyOf(lane, facts, pins),
      descriptors: pins.descriptors,
      close: () => {
        pins.close();
      },
    };
  } catch (error) {
    pins.close();
    throw error;
  }
}

function policyOf(lane: LaneFacts, facts: PolicyFacts, pins: Pins): Policy {
  switch (lane.kind) {
    case 'worktree':
      return worktreePolicy({ ...facts, lane, repository: repositoryFacts(lane, pins) });
    case 'checkout':
      return checkoutPolicy({ ...facts, lane });
    case 'plain':
      return plainRootPolicy({ ...facts, lane });
  }
}

function repositoryFacts(lane: WorktreeLane, pins: Pins): RepositoryFacts {
  const common = Directory.open(lane.commonDir);
  try {
    const siblings = foldersIn(common, 'worktrees').filter(
      (id) => lane.metadataDir !== `${lane.commonDir}/worktrees/${id}`,
    );
    const sockets = [
      ...socketsIn(common, []),
      ...siblings.flatMap((id) => socketsIn(common, ['worktrees', id])),
    ];
    return { config: readPinned(pins, 'config'), sockets };
  } finally {
    common.close();
  }
}

function foldersIn(common: Directory, name: string): string[] {
  const folder = common.child(name);
  try {
    return folder
      .list()
      .filter(({ kind }) => kind === 'directory')
      .map((entry) => entry.name);
  } finally {
    folder.close();
  }
}

/** Paths, relative to the common directory, of what is neither file nor folder in one of its folders. */
function socketsIn(common: Directory, segments: readonly string[]): string[] {
  let folder: Directory | undefined;
  try {
    folder = common.walk(segments);
    return folder
      .list()
      .filter(({ kind }) => kind === 'other')
      .map(({ name }) => [...segments, name].join('/'));
  } catch (error) {
    // A sibling that was removed since it was listed has no socket, and into one that is closed nobody gets.
    if (error instanceof FileRefusal) return [];
    throw error;
  } finally {
    folder?.close();
  }
}
