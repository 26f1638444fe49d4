import type { Lane } from '@codelanes/protocol';
import { laneOf, relativePathSchema, workspaceIdSchema, worktreeNameSchema } from '@codelanes/protocol';
import { CliError } from '../errors/cli-error.js';

/**
 * The lane that a text names as `codelanes lanes` shows it: `WORKSPACE`, `WORKSPACE/.worktrees/NAME`, and both
 * with the path of a repository after the workspace.
 *
 * @throws CliError
 */
export function parseLane(text: string): Lane {
  const parts =
    /^(?<workspaceId>[^/@]+)(?:\/(?!\.worktrees\/)(?<repository>.+?))?(?:\/\.worktrees\/(?<worktree>[^/]+))?$/.exec(
      text,
    )?.groups;
  const { workspaceId = '', repository, worktree } = parts ?? {};
  const isLane =
    workspaceIdSchema.safeParse(workspaceId).success &&
    (repository === undefined || relativePathSchema.safeParse(repository).success) &&
    (worktree === undefined || worktreeNameSchema.safeParse(worktree).success);
  if (isLane) return laneOf({ workspaceId, repository, worktree });
  throw new CliError(
    `"${text}" names no lane.`,
    'Name it as "codelanes lanes" does, like myrepo or myrepo/.worktrees/a.',
  );
}
