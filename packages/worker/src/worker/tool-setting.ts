import { describeLane } from '@codelanes/protocol';
import type { Assignment } from '@codelanes/protocol';
import type { ToolContext } from '../tools/tool-context.js';
import type { OpenedLane } from './opened-lane.js';
import type { ServedRoot } from './served-root.js';
import { repositoriesBeneath } from './served-tree.js';

export interface ToolCall {
  readonly root: ServedRoot;
  readonly lane: OpenedLane;
  readonly assignment: Assignment;
  readonly ripgrep: string | undefined;
  readonly signal: AbortSignal;
}

/** What a file tool works with: the lane as verified, and a journal entry before anything is written. */
export function toolContext({ root, lane, assignment, ripgrep, signal }: ToolCall): ToolContext {
  const { callId } = assignment;
  return {
    directory: lane.directory,
    lane: describeLane(assignment.lane),
    // A walk of the checkout would answer with every lane's copy of the same file.
    hidden: [
      ...(lane.facts.kind === 'checkout' ? ['.worktrees'] : []),
      ...repositoriesBeneath(root, assignment.lane).map(({ repository }) => `${repository}/.worktrees`),
    ],
    ripgrep,
    signal,
    beforeWrite: ({ path, temporary }) =>
      root.journal.startWrite({ call: callId, lane: assignment.lane, path, temporary }),
  };
}
