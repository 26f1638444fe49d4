import { describe, expect, it } from 'vitest';
import type { Capabilities } from './capabilities.js';
import { capabilitiesFor, errorFor, generationOf, resultFor } from './generation.js';
import type { WorkspaceToolResult } from './operations.js';
import { capabilities } from './testing/capabilities.js';
import { shownCapabilitiesSchema } from './worker-status.js';

const offered: Capabilities = {
  ...capabilitiesWithLanes(),
  whyNoCommands: 'No command is run on this machine.',
};
const newerKeys = [
  'whyNoCommands',
  'sharedReads',
  'workspaceScopes',
  'laneRouting',
  'capacities',
  'aliasOf',
  'commandResultFeatures',
];

function capabilitiesWithLanes(): Capabilities {
  return capabilities(
    {
      workspaceScopes: ['git_linked_worktree', 'repository'],
      laneRouting: 'by-path',
      capacities: [{ commands: 2 }],
      aliasOf: { workspaceId: 'primary', repository: 'api' },
    },
    { commandResultFeatures: ['lane_git'] },
  );
}

function keysIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(keysIn)];
}

describe('client generations', () => {
  it('are what the operator set, unless the client says that it is ours', () => {
    expect(generationOf(undefined, 'A')).toBe('A');
    expect(generationOf('1', 'A')).toBe('own');
    expect(generationOf('true', 'B')).toBe('B');
  });

  it('[L27] A is shown no key that it does not know: one would make the whole worker unusable', () => {
    expect(keysIn(capabilitiesFor('A', offered)).filter((key) => newerKeys.includes(key))).toEqual([]);
    const known = capabilitiesFor('A', capabilities());
    expect(capabilitiesFor('A', offered)).toEqual(known);
  });

  it('[L3] B is shown worktrees and nothing of repositories', () => {
    const shown = capabilitiesFor('B', offered);
    expect(
      keysIn(shown)
        .filter((key) => newerKeys.includes(key))
        .sort(),
    ).toEqual(['commandResultFeatures', 'workspaceScopes']);
    expect(JSON.stringify(shown)).toContain('["git_linked_worktree"]');
    const repositories = capabilitiesFor('B', capabilities({ workspaceScopes: ['repository'] }));
    expect(keysIn(repositories)).not.toContain('workspaceScopes');
  });

  it('all are shown labels and actions of a definition, which all know', () => {
    const environment = { fingerprint: 'a'.repeat(64), repo: 'o/n', ref: 'main', actions: ['test'] };
    for (const generation of ['A', 'B', 'own'] as const) {
      const shown = JSON.stringify(capabilitiesFor(generation, capabilities({ environment })));
      expect(shown).toContain(`"environment":${JSON.stringify(environment)}`);
    }
  });

  it('A and B are told the programmatic languages where they look for them', () => {
    const programmatic = { ...offered, programmaticLanguages: ['bash' as const] };
    for (const generation of ['A', 'B'] as const) {
      expect(capabilitiesFor(generation, programmatic)).toMatchObject({
        programmaticLanguages: ['bash'],
        workspaceTools: { programmaticLanguages: ['bash'] },
      });
    }
  });

  it('our own clients are shown everything', () => {
    expect(capabilitiesFor('own', offered)).toMatchObject(offered);
  });

  it('our own clients are shown the repositories in their workspace too', () => {
    const scopes = { workspaceScopes: ['git_linked_worktree' as const] };
    const primary = {
      id: 'primary',
      workspaceScopes: ['repository' as const],
      capacities: [{ repository: 'services/api', commands: 2 }, { commands: 3 }],
    };
    const workspaces = [
      primary,
      { id: 'primary:api', ...scopes, aliasOf: { workspaceId: 'primary', repository: 'services/api' } },
      { id: 'primary:web', aliasOf: { workspaceId: 'primary', repository: 'web' } },
      { id: 'other' },
    ];
    const shown = shownCapabilitiesSchema.parse(capabilitiesFor('own', capabilities({}, { workspaces })));
    expect(shown.workspaceTools.workspaces).toEqual([
      {
        ...primary,
        repositories: [
          { path: 'services/api', workspaceId: 'primary:api', ...scopes, commands: 2 },
          { path: 'web', workspaceId: 'primary:web' },
        ],
      },
      ...workspaces.slice(1),
    ]);
  });

  it('only A is not told the branch of a lane', () => {
    const result: WorkspaceToolResult = {
      protocolVersion: 1,
      workspaceId: 'primary',
      operation: 'execute_command',
      exitCode: 0,
      stdout: '',
      stderr: '',
      truncated: false,
      timedOut: false,
      laneGit: { branch: 'main', head: null },
    };
    const { laneGit, ...known } = result;
    expect(laneGit).toBeDefined();
    expect(resultFor('A', result)).toEqual(known);
    expect(resultFor('B', result)).toEqual(result);
    expect(resultFor('own', result)).toEqual(result);
  });

  it('only A is told INVALID_PATH for NOT_FOUND', () => {
    const error = { code: 'NOT_FOUND', message: 'gone' } as const;
    expect(errorFor('A', error)).toEqual({ code: 'INVALID_PATH', message: 'gone' });
    expect(errorFor('B', error)).toEqual(error);
    expect(errorFor('A', { code: 'EDIT_CONFLICT', message: 'm' }).code).toBe('EDIT_CONFLICT');
  });
});
