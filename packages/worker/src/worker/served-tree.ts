import { CodelanesError, lanesOverlap } from '@codelanes/protocol';
import type { Lane } from '@codelanes/protocol';
import type { NetworkPolicy } from '../environment/network-policy.js';
import type { ActionsOfDefinition } from '../environment/roots.js';
import type { FileIdentity } from '../files/directory.js';
import type { CheckoutPin } from '../lanes/checkout.js';
import type { SetupStates } from '../setup/setup-states.js';

/** What stands in a tree: a checkout with its lanes, or a plain folder, which is one lane. */
export type Layout =
  | { readonly kind: 'checkout'; readonly pin: CheckoutPin }
  | { readonly kind: 'plain'; readonly identity: FileIdentity; readonly why: string };

/** A folder that a call may take as a whole: a root, or a repository beneath it. */
export interface ServedTree {
  /** Canonical path; never leaves the worker. */
  readonly path: string;
  readonly lane: Lane;
  readonly layout: Layout;
  /** Linked worktrees are lanes here. */
  readonly hasLanes: boolean;
  /** What its commands may reach. */
  readonly network: NetworkPolicy;
  /** What callers are told of where it is declared, and its actions; undefined for a root without a definition. */
  readonly definition?: ActionsOfDefinition | undefined;
  /** Where a snapshot is kept for as long as an audit of this tree is owed. */
  readonly stateDir: string;
}

/** A repository that was declared beneath a root. */
export interface ServedRepository extends ServedTree {
  readonly layout: Extract<Layout, { kind: 'checkout' }>;
  /** As declared, verbatim. */
  readonly repository: string;
  /** The workspace that is its other name. */
  readonly workspaceId: string;
  /** Commands that may run at once in it and its worktrees, where the operator bounds them. */
  readonly slots: number | undefined;
  /** How far its worktrees are with its setup, where it has one. */
  readonly setups?: SetupStates | undefined;
}

/** A tree that may hold repositories. */
export interface TreeOfTrees extends ServedTree {
  readonly repositories: readonly ServedRepository[];
}

/**
 * The tree that a lane lies in.
 *
 * @throws {CodelanesError} `WORKER_MISMATCH` for a repository that is not declared.
 */
export function treeOf(root: TreeOfTrees, lane: readonly string[]): ServedTree {
  const [, segment] = lane;
  if (segment?.startsWith('repo:') !== true) return root;
  const found = repositoryOf(root, lane);
  if (found !== undefined) return found;
  throw new CodelanesError(
    'WORKER_MISMATCH',
    `There is no repository "${segment.slice('repo:'.length)}" here.`,
  );
}

/** The declared repository that a lane lies in, if it lies in one. */
export function repositoryOf(
  root: TreeOfTrees,
  [, segment]: readonly string[],
): ServedRepository | undefined {
  return root.repositories.find(({ repository }) => segment === `repo:${repository}`);
}

/** The trees that a call in a lane has a part of for itself, and those that it lies in. */
export function treesAround(root: TreeOfTrees, lane: readonly string[]): readonly ServedTree[] {
  return [root, ...root.repositories].filter((tree) => lanesOverlap(tree.lane, lane));
}

/** The repositories beneath a lane: those of a root, where the lane is the whole root. */
export function repositoriesBeneath(root: TreeOfTrees, lane: readonly string[]): readonly ServedRepository[] {
  return lane.length === 1 ? root.repositories : [];
}

/** The checkouts whose worktrees are lanes beneath this one, and lie in what a call in it may change. */
export function checkoutsBeneath(root: TreeOfTrees, lane: readonly string[]): readonly CheckoutPin[] {
  const own = lane.at(-1)?.startsWith('worktree:') === true ? [] : [treeOf(root, lane)];
  return [...own, ...repositoriesBeneath(root, lane)].flatMap(({ hasLanes, layout }) =>
    hasLanes && layout.kind === 'checkout' ? [layout.pin] : [],
  );
}
