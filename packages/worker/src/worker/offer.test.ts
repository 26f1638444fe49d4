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
  it('routes calls by their paths where the definition says so, in its repositories too', () => {
    const repositories = [
      { repository: 'web', workspaceId: 'primary:web', hasLanes: true, slots: undefined },
    ];
    const routings = (root: OfferedRoot) => workspacesOf(root).map(({ laneRouting }) => laneRouting);
    expect(routings({ ...plain, repositories, laneRouting: 'by-path' })).toEqual(['by-path', 'by-path']);
    expect(routings({ ...plain, repositories })).toEqual([undefined, undefined]);
  });

  it('[E2] with a definition has its labels and the names of its actions, and never a command', () => {
    const action = (name: string) => ({ name, command: `secret ${name}`, timeoutMs: 1 });
    const definition = { fingerprint: 'a'.repeat(64), repo: 'o/n', ref: 'main', actions: [action('test')] };
    const repository = {
      repository: 'api',
      workspaceId: 'primary:api',
      hasLanes: false,
      slots: undefined,
      definition: { fingerprint: 'b'.repeat(64), actions: [action('build'), action('lint')] },
    };
    const root = { ...plain, definition, repositories: [repository] };
    expect(workspacesOf(root).map(({ environment }) => environment)).toEqual([
      { fingerprint: 'a'.repeat(64), repo: 'o/n', ref: 'main', actions: ['test'] },
      { fingerprint: 'b'.repeat(64), actions: ['build', 'lint'] },
    ]);
    expect(JSON.stringify(capabilitiesOf([root], true))).not.toContain('secret');
    // A worker that runs no commands has no actions.
    const [readOnly] = capabilitiesOf([root], false).workspaceTools.workspaces;
    expect(readOnly?.environment?.actions).toEqual([]);
  });

  it('says why it runs no commands, where it runs none, within what the wire takes', () => {
    const whyNoCommands = 'No command is run on this machine. Install bubblewrap.';
    expect(capabilitiesOf([plain], false, { whyNoCommands }).whyNoCommands).toBe(whyNoCommands);
    expect(capabilitiesOf([plain], true, { whyNoCommands })).not.toHaveProperty('whyNoCommands');
    const endless = capabilitiesOf([plain], false, { whyNoCommands: 'x'.repeat(5000) });
    expect(capabilitiesSchema.safeParse(endless).success).toBe(true);
  });

  it('[L3] tells where worktrees stand after a command, where there are worktrees and commands', () => {
    const featuresOf = (root: OfferedRoot, commands = true) =>
      capabilitiesOf([root], commands).workspaceTools.commandResultFeatures;
    const repository = { repository: 'api', workspaceId: 'primary:api', hasLanes: true, slots: undefined };
    expect(featuresOf({ ...plain, hasLanes: true })).toEqual(['lane_git']);
    expect(featuresOf({ ...plain, repositories: [repository] })).toEqual(['lane_git']);
    expect(featuresOf(plain)).toBeUndefined();
    expect(featuresOf({ ...plain, hasLanes: true }, false)).toBeUndefined();
  });
});
