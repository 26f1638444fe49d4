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

/** A repository's main working tree, with every lane beneath it. */
export interface CheckoutLane {
  readonly kind: 'checkout';
  readonly root: string;
  /** Its Git directory: `<root>/.git`, or where a `.git` file leads. */
  readonly gitDir: string;
  /** As of a worktree. */
  readonly alternates: readonly string[];
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
