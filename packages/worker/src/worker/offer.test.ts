import { capabilitiesSchema } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { capabilitiesOf, type OfferedRoot } from './offer.js';

const plain: OfferedRoot = { id: 'primary', hasLanes: false, repositories: [] };
const workspacesOf = (root: OfferedRoot) => {
  const capabilities = capabilitiesSchema.parse(capabilitiesOf([root], true));
  return capabilities.workspaceTools.workspaces;
};

describe('what a worker offers of a root', () => {
  it('[M9] without repositories is one workspace, and says of worktrees only what there is', () => {
    expect(workspacesOf(plain)).toEqual([{ id: 'primary', name: 'primary' }]);
    expect(workspacesOf({ ...plain, hasLanes: true })).toEqual([
      { id: 'primary', name: 'primary', workspaceScopes: ['git_linked_worktree'] },
    ]);
  });

  it('[M2] [M6] with repositories is that scope, their bounds, and a workspace for each', () => {
    const repositories = [
      { repository: 'services/api', workspaceId: 'primary:services.api', hasLanes: true, slots: 2 },
      { repository: 'web', workspaceId: 'primary:web', hasLanes: false, slots: undefined },
    ];
    expect(workspacesOf({ ...plain, repositories })).toEqual([
      {
        id: 'primary',
        name: 'primary',
        workspaceScopes: ['repository'],
        capacities: [{ repository: 'services/api', commands: 2 }],
      },
      {
        id: 'primary:services.api',
        name: 'primary:services.api',
        workspaceScopes: ['git_linked_worktree'],
        aliasOf: { workspaceId: 'primary', repository: 'services/api' },
      },
      { id: 'primary:web', name: 'primary:web', aliasOf: { workspaceId: 'primary', repository: 'web' } },
    ]);
  });
});
