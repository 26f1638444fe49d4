import { describe, expect, it } from 'vitest';
import { capabilitiesSchema, findWorkspace } from './capabilities.js';
import { registerRequestSchema } from './wire.js';
import { capabilities } from './testing/capabilities.js';

const base = capabilities();
const tools = (fields: object) => ({ ...base, workspaceTools: { ...base.workspaceTools, ...fields } });
const workspace = (fields: object) => tools({ workspaces: [{ id: 'primary', ...fields }] });
const workspaces = (count: number) =>
  tools({ workspaces: Array.from({ length: count }, (_, index) => ({ id: `w${index}` })) });
const instructions = (bytes: number) =>
  workspace({ instructions: [{ path: 'AGENTS.md', bytes, sha256: '0'.repeat(64), truncated: false }] });

describe('limits of capabilities', () => {
  it.each([
    ['workspaces', workspaces(32), workspaces(33)],
    ['one workspace', workspaces(1), workspaces(0)],
    ['workspace name', workspace({ name: 'x'.repeat(128) }), workspace({ name: 'x'.repeat(129) })],
    [
      'sandbox profile',
      { ...base, sandboxProfile: 'x'.repeat(128) },
      { ...base, sandboxProfile: 'x'.repeat(129) },
    ],
    ['runtimes', { ...base, runtimes: Array(32).fill('x') }, { ...base, runtimes: Array(33).fill('x') }],
    ['runtime', { ...base, runtimes: ['x'.repeat(64)] }, { ...base, runtimes: ['x'.repeat(65)] }],
    ['instruction bytes', instructions(32_768), instructions(32_769)],
    [
      'commands of a node',
      workspace({ capacities: [{ commands: 8 }] }),
      workspace({ capacities: [{ commands: 9 }] }),
    ],
    [
      'commands of a node, least',
      workspace({ capacities: [{ commands: 1 }] }),
      workspace({ capacities: [{ commands: 0 }] }),
    ],
  ])('%s: holds at the bound and not past it', (_, at, past) => {
    expect(capabilitiesSchema.safeParse(at).error).toBeUndefined();
    expect(capabilitiesSchema.safeParse(past).success).toBe(false);
  });

  it.each([
    ['a top-level key', { ...base, extra: 1 }],
    ['a tools key', tools({ extra: 1 })],
    ['a workspace key', workspace({ root: '/home/me/project' })],
    ['an operation', tools({ operations: ['format_disk'] })],
    ['a scope', workspace({ workspaceScopes: ['planet'] })],
  ])('refuse %s that they do not know', (_, value) => {
    expect(capabilitiesSchema.safeParse(value).success).toBe(false);
  });

  it('[L3] carry the scopes of a workspace', () => {
    const scoped = capabilitiesSchema.parse(workspace({ workspaceScopes: ['git_linked_worktree'] }));
    expect(findWorkspace(scoped, 'primary')?.workspaceScopes).toEqual(['git_linked_worktree']);
    expect(findWorkspace(scoped, 'secondary')).toBeUndefined();
  });
});

describe('slots of a registration', () => {
  const register = (slots: number) =>
    registerRequestSchema.safeParse({
      version: 1,
      workerId: 'w',
      incarnationId: '0'.repeat(32),
      registrationId: '2'.repeat(32),
      journalId: '1'.repeat(32),
      capabilities: base,
      slots,
      holds: [],
      takeOver: false,
    }).success;

  it('are 1 to 8', () => {
    expect([0, 1, 8, 9, 1.5].map(register)).toEqual([false, true, true, false, false]);
  });
});
