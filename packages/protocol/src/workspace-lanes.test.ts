import { describe, expect, it } from 'vitest';
import { capabilities } from './testing/capabilities.js';
import { lanesOfWorkspace } from './workspace-lanes.js';

const offered = capabilities(
  {},
  {
    workspaces: [
      { id: 'plain' },
      { id: 'primary', workspaceScopes: ['git_linked_worktree', 'repository'] },
      {
        id: 'primary:api',
        workspaceScopes: ['git_linked_worktree'],
        aliasOf: { workspaceId: 'primary', repository: 'services/api' },
      },
      { id: 'primary:web', aliasOf: { workspaceId: 'primary', repository: 'web' } },
    ],
  },
);

describe('the lanes of a workspace', () => {
  it('are its worktrees, its repositories, and the worktrees of these', () => {
    expect(lanesOfWorkspace(offered, 'primary')).toEqual({
      repositories: ['services/api', 'web'],
      worktrees: ['', 'services/api'],
    });
  });

  it('are its own worktrees where it is only a name of a repository', () => {
    expect(lanesOfWorkspace(offered, 'primary:api')).toEqual({ repositories: [], worktrees: [''] });
    expect(lanesOfWorkspace(offered, 'primary:web')).toEqual({ repositories: [], worktrees: [] });
  });

  it('are none in a workspace that is split into nothing', () => {
    expect(lanesOfWorkspace(offered, 'plain')).toEqual({ repositories: [], worktrees: [] });
    expect(() => lanesOfWorkspace(offered, 'other')).toThrow(/does not offer workspace "other"/);
  });
});
