import { describe, expect, it } from 'vitest';
import { laneOf } from './lane.js';
import { withoutAlias } from './repository-alias.js';
import { capabilities } from './testing/capabilities.js';

const offered = capabilities(
  {},
  {
    workspaces: [
      { id: 'primary', workspaceScopes: ['repository'] },
      { id: 'primary:api', aliasOf: { workspaceId: 'primary', repository: 'services/api' } },
    ],
  },
);

describe('a workspace that is the other name of a repository', () => {
  it('[M6] is the lane that the field names', () => {
    const alias = withoutAlias(offered, { workspaceId: 'primary:api', worktree: 'a' });
    const field = withoutAlias(offered, {
      workspaceId: 'primary',
      repository: 'services/api',
      worktree: 'a',
    });
    expect(laneOf(alias)).toEqual(['primary', 'repo:services/api', 'worktree:a']);
    expect(laneOf(field)).toEqual(laneOf(alias));
  });

  it('changes nothing of another workspace, known or not', () => {
    for (const workspaceId of ['primary', 'primary:other']) {
      expect(laneOf(withoutAlias(offered, { workspaceId, worktree: 'a' }))).toEqual([
        workspaceId,
        'worktree:a',
      ]);
    }
  });
});
