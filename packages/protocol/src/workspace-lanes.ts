import { requireWorkspace } from './gate.js';
import type { Capabilities, WorkspaceDescriptor } from './capabilities.js';
import { repositoriesOf } from './repository-alias.js';

/** What a workspace is split into, as its worker advertises it. */
export interface WorkspaceLanes {
  /** The declared paths of its repositories. */
  readonly repositories: readonly string[];
  /** The checkouts whose linked worktrees are lanes: declared paths, `''` being the workspace's own root. */
  readonly worktrees: readonly string[];
}

/**
 * The lanes in which paths of a workspace may lie.
 *
 * @throws CodelanesError `WORKER_MISMATCH` where the worker does not offer the workspace.
 */
export function lanesOfWorkspace(capabilities: Capabilities, workspaceId: string): WorkspaceLanes {
  const workspace = requireWorkspace(capabilities, workspaceId);
  const repositories = repositoriesOf(capabilities, workspaceId);
  return {
    repositories: repositories.map(({ path }) => path),
    worktrees: [
      ...(hasWorktrees(workspace) ? [''] : []),
      ...repositories.filter((repository) => hasWorktrees(repository.workspace)).map(({ path }) => path),
    ],
  };
}

function hasWorktrees({ workspaceScopes }: WorkspaceDescriptor): boolean {
  return workspaceScopes?.includes('git_linked_worktree') === true;
}
