import { laneOf, type Lane } from '@codelanes/protocol';
import type { DayCall } from './day.js';

/** How lanes are cut, and how many commands run at once. */
export interface Arrangement {
  readonly name: string;
  readonly slots: number;
  readonly laneOf: (call: DayCall) => Lane;
  /** How many of the day's calls the reference model of the rule loses in it. */
  readonly modelLoses: number;
}

const workspaceId = 'environment';

const wholeRoot = (): Lane => laneOf({ workspaceId });

const worktrees = ({ repository, worktree }: DayCall): Lane =>
  laneOf({ workspaceId, repository, worktree: worktree ?? undefined });

export const arrangements = [
  // With one lane no second slot is ever used.
  { name: 'one lane per root', slots: 8, laneOf: wholeRoot, modelLoses: 1841 },
  { name: 'a lane per worktree, 2 slots', slots: 2, laneOf: worktrees, modelLoses: 651 },
  { name: 'a lane per worktree, 4 slots', slots: 4, laneOf: worktrees, modelLoses: 284 },
  { name: 'a lane per worktree, 8 slots', slots: 8, laneOf: worktrees, modelLoses: 268 },
] as const satisfies readonly Arrangement[];
