import { CodelanesError, laneOf } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { noNetwork } from '../environment/network-policy.js';
import { repositoriesBeneath, treeOf, treesAround, type ServedRepository } from './served-tree.js';

const tree = { hasLanes: true, network: noNetwork, stateDir: '/state' } as const;
const identity = { dev: 1n, ino: 1n };
const layout = { kind: 'plain', identity, why: 'It has no .git directory.' } as const;
const pin = { root: '/src', rootIdentity: identity, gitIdentity: identity, alternates: [] };

// Ids may look like segments.
const id = 'repo:api';
const repository = (path: string): ServedRepository => ({
  ...tree,
  layout: { kind: 'checkout', pin },
  path: `/src/${path}`,
  repository: path,
  workspaceId: `${id}:${path}`,
  lane: laneOf({ workspaceId: id, repository: path }),
  slots: undefined,
});
const [api, web] = [repository('api'), repository('web')];
const root = { ...tree, layout, path: '/src', lane: laneOf({ workspaceId: id }), repositories: [api, web] };
const lane = (fields: { repository?: string; worktree?: string }) => laneOf({ workspaceId: id, ...fields });

describe('the trees of a root', () => {
  it('hold the lanes of their own paths', () => {
    expect(treeOf(root, lane({}))).toBe(root);
    expect(treeOf(root, lane({ worktree: 'a' }))).toBe(root);
    expect(treeOf(root, lane({ repository: 'api' }))).toBe(api);
    expect(treeOf(root, lane({ repository: 'web', worktree: 'a' }))).toBe(web);
    expect(() => treeOf(root, lane({ repository: 'ap' }))).toThrow(CodelanesError);
  });

  it('are around a lane where their own lane overlaps it', () => {
    expect(treesAround(root, lane({}))).toEqual([root, api, web]);
    expect(treesAround(root, lane({ repository: 'api', worktree: 'a' }))).toEqual([root, api]);
    expect(treesAround(root, lane({ worktree: 'a' }))).toEqual([root]);
  });

  it('lie beneath the whole root alone', () => {
    expect(repositoriesBeneath(root, lane({}))).toEqual([api, web]);
    expect(repositoriesBeneath(root, lane({ worktree: 'a' }))).toEqual([]);
    expect(repositoriesBeneath(root, lane({ repository: 'api' }))).toEqual([]);
  });
});
