import { describe, expect, it } from 'vitest';
import type { Capabilities } from './capabilities.js';
import { CodelanesError } from './errors.js';
import { assertActionAdvertised } from './environment-action.js';
import type { WorkspaceToolRequest } from './operations.js';
import { capabilities } from './testing/capabilities.js';

const ofRoot = { fingerprint: 'a'.repeat(64), actions: ['test', 'lint'] };
const ofApi = { fingerprint: 'b'.repeat(64), actions: ['build'] };
const offered: Capabilities = capabilities(
  {},
  {
    workspaces: [
      { id: 'primary', workspaceScopes: ['repository'], environment: ofRoot },
      { id: 'primary:api', aliasOf: { workspaceId: 'primary', repository: 'api' }, environment: ofApi },
      { id: 'plain' },
    ],
  },
);

const asking = (
  name: string,
  { fingerprint }: { readonly fingerprint: string },
  fields: object = {},
): WorkspaceToolRequest => ({
  protocolVersion: 1,
  workspaceId: 'primary',
  operation: 'execute_command',
  command: 'placeholder',
  environmentAction: { name, fingerprint },
  ...fields,
});

function verdict(request: WorkspaceToolRequest): string {
  try {
    assertActionAdvertised(offered, request);
    return 'taken';
  } catch (error) {
    if (CodelanesError.is(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
}

describe('an action', () => {
  it('is taken by its name with the fingerprint of where it is declared', () => {
    expect(verdict(asking('test', ofRoot))).toBe('taken');
    expect(verdict(asking('lint', ofRoot, { cwd: '.', worktree: 'a' }))).toBe('taken');
    expect(verdict(asking('build', ofApi, { repository: 'api' }))).toBe('taken');
    expect(verdict(asking('build', ofApi, { workspaceId: 'primary:api', worktree: 'a' }))).toBe('taken');
  });

  it('of a definition that has changed is refused, also one of another place', () => {
    const stale = { fingerprint: 'c'.repeat(64) };
    for (const request of [
      asking('test', stale),
      asking('test', ofApi),
      asking('test', ofRoot, { repository: 'api' }),
      asking('build', ofRoot, { workspaceId: 'primary:api' }),
    ]) {
      expect(verdict(request)).toMatch(/^INVALID_REQUEST: .*not the one that was seen/u);
    }
  });

  it('that is not declared is refused, and the refusal names those that are', () => {
    expect(verdict(asking('build', ofRoot))).toBe(
      'INVALID_REQUEST: There is no action "build" here. It has "test", "lint".',
    );
  });

  it('is refused beside a working directory', () => {
    expect(verdict(asking('test', ofRoot, { cwd: 'src' }))).toMatch(/^INVALID_REQUEST: .*leave cwd out/u);
  });

  it('is no matter of a workspace without a definition, nor of other requests', () => {
    expect(verdict(asking('test', ofRoot, { workspaceId: 'plain' }))).toMatch(/^WORKER_MISMATCH: /u);
    expect(
      verdict({ protocolVersion: 1, workspaceId: 'primary', operation: 'execute_command', command: 'true' }),
    ).toBe('taken');
  });
});
