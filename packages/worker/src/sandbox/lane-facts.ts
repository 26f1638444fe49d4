import type { OpenedCheckout } from '../lanes/checkout.js';
import type { OpenedWorktree } from '../lanes/verify.js';

/**
 * A linked worktree that verification has just accepted. Paths are canonical. The descriptors were opened
 * while verifying (`O_PATH` is enough) and stay open until the sandbox has started: what they hold is
 * mounted, whatever the paths lead to by then.
 */
export interface WorktreeLane {
  readonly kind: 'worktree';
  /** The checkout, whose files the lane does not see. */
  readonly root: string;
  readonly lanePath: string;
  /** The repository's common Git directory. */
  readonly commonDir: string;
  /** The worktree's own folder in `<commonDir>/worktrees`. */
  readonly metadataDir: string;
  /** Object stores outside the common directory that the repository borrows from, as recorded at the worker's start. */
  readonly alternates: readonly string[];
  readonly descriptors: { readonly worktree: number; readonly metadata: number };
}

/** A repository's main working tree, with every lane beneath it. Descriptors as of a worktree. */
export interface CheckoutLane {
  readonly kind: 'checkout';
  readonly root: string;
  /** Its Git directory, `<root>/.git`. */
  readonly gitDir: string;
  readonly alternates: readonly string[];
  readonly descriptors: { readonly root: number; readonly git: number };
}

/** A root that is no Git repository. */
export interface PlainLane {
  readonly kind: 'plain';
  readonly root: string;
}

export type LaneFacts = WorktreeLane | CheckoutLane | PlainLane;

/** The directory that a lane's relative paths start from. */
export function laneTop(lane: LaneFacts): string {
  return lane.kind === 'worktree' ? lane.lanePath : lane.root;
}

/** A verified worktree as its wall needs it. It stays open, and is closed, by whoever verified it. */
export function worktreeLane(opened: OpenedWorktree): WorktreeLane {
  const { root, lanePath, commonDir, metadataDir, descriptors } = opened;
  const { alternates } = opened.checkout.pin;
  return { kind: 'worktree', root, lanePath, commonDir, metadataDir, alternates, descriptors };
}

/** A verified checkout as its wall and its audit need it. */
export function checkoutLane(opened: OpenedCheckout): CheckoutLane {
  const { root, gitDir, pin } = opened;
  const descriptors = { root: opened.directory.fd, git: opened.git.fd };
  return { kind: 'checkout', root, gitDir, alternates: pin.alternates, descriptors };
}
