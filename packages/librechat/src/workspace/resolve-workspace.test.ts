import type { ShownWorkspace, WorkerStatus } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import {
  conversationInstanceId,
  resolveWorkspace,
  selectionOf,
  WorkspaceSelectionError,
  type ResolveOptions,
} from '../index.js';

const instance = 'a'.repeat(64);
const selection = { environmentId: 'env', workspaceId: 'primary' };

function statusOf(workspace: Partial<ShownWorkspace> = {}, more: Partial<WorkerStatus> = {}): WorkerStatus {
  return {
    protocolVersion: 1,
    workerId: 'w1',
    online: true,
    ready: true,
    leaseExpiresInMs: 1_000,
    maxCommandTimeoutMs: 300_000,
    capabilities: {
      sandboxProfile: 'codelanes-bubblewrap',
      runtimes: ['bash'],
      workspaceTools: {
        protocolVersion: 1,
        operations: ['read_file', 'execute_command'],
        workspaces: [{ id: 'other' }, { id: 'primary', ...workspace }],
        programmaticLanguages: ['bash'],
        editFileFeatures: ['replace_all'],
      },
    },
    ...more,
  };
}

function routing(workspace: Partial<ShownWorkspace>, options: Partial<ResolveOptions> = {}): unknown {
  return resolveWorkspace({ status: statusOf(workspace), selection, ...options }).routing;
}

function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof WorkspaceSelectionError) return error.reason;
    throw error;
  }
  throw new Error('expected a WorkspaceSelectionError');
}

const both = { workspaceInstances: ['git_worktree'], workspaceScopes: ['git_linked_worktree'] };
const lanes = { kind: 'lanes', lanes: { repositories: [], worktrees: [''] } };
const clone = { kind: 'instance', workspaceInstanceId: instance };

describe('a clone of the conversation and lanes exclude each other', () => {
  it('the clone wins', () => {
    expect(routing(both, { conversationInstanceId: instance })).toEqual(clone);
  });

  it.each<[string, Partial<ShownWorkspace>, Partial<ResolveOptions>]>([
    [
      'the worker offers none',
      { workspaceScopes: ['git_linked_worktree'] },
      { conversationInstanceId: instance },
    ],
    ['there is no conversation', both, {}],
    [
      'the source was selected',
      both,
      { conversationInstanceId: instance, selection: { ...selection, checkout: 'source' } },
    ],
  ])('there are lanes where %s', (_, workspace, options) => {
    expect(routing(workspace, options)).toEqual(lanes);
  });

  it.each<[string, Partial<ShownWorkspace>, Partial<ResolveOptions>]>([
    ['the operator wants none', both, { linkedWorktrees: false }],
    ['the worker offers none', { workspaceScopes: ['of_the_future'] }, {}],
    [
      'it names repositories that it does not offer as lanes',
      { repositories: [{ path: 'x', workspaceId: 'x' }] },
      {},
    ],
  ])('there are no lanes where %s', (_, workspace, options) => {
    expect(routing(workspace, options)).toEqual({ kind: 'checkout' });
  });

  it.each<[string, Partial<ShownWorkspace>, Partial<ResolveOptions>]>([
    [
      'the worker offers none',
      { workspaceScopes: ['git_linked_worktree'] },
      { conversationInstanceId: instance },
    ],
    ['there is no conversation', both, {}],
  ])('a clone that is asked for is not replaced by lanes where %s', (_, workspace, options) => {
    const isolated = { ...selection, checkout: 'isolated' } as const;
    expect(reasonOf(() => routing(workspace, { ...options, selection: isolated }))).toBe('unsupported');
  });

  it('lanes are those of the repositories too', () => {
    const repositories = [
      { path: 'services/api', workspaceId: 'primary:api', workspaceScopes: ['git_linked_worktree'] },
      { path: 'web', workspaceId: 'primary:web' },
    ];
    expect(routing({ workspaceScopes: ['repository'], repositories })).toEqual({
      kind: 'lanes',
      lanes: { repositories: ['services/api', 'web'], worktrees: ['services/api'] },
    });
  });
});

describe('what a workspace offers', () => {
  it('is what the worker offers, where it says nothing else', () => {
    expect(resolveWorkspace({ status: statusOf(), selection })).toEqual({
      workspaceId: 'primary',
      operations: ['read_file', 'execute_command'],
      routing: { kind: 'checkout' },
      programmatic: true,
      maxCommandTimeoutMs: 300_000,
      editFileFeatures: ['replace_all'],
    });
    const fewer = resolveWorkspace({ status: statusOf({ operations: ['read_file'] }), selection });
    expect(fewer).toMatchObject({ operations: ['read_file'], programmatic: false });
  });

  it('comes with its instructions and actions', () => {
    const more = {
      instructions: [{ path: 'AGENTS.md' as const, bytes: 1, sha256: 'b'.repeat(64), truncated: false }],
      environment: { fingerprint: 'c'.repeat(64), actions: ['test'] },
    };
    expect(resolveWorkspace({ status: statusOf(more), selection })).toMatchObject(more);
  });

  it.each<[string, Partial<ResolveOptions>, string]>([
    ['offline', { status: statusOf({}, { online: false, ready: false }) }, 'worker_unavailable'],
    ['not ready', { status: statusOf({}, { ready: false }) }, 'worker_unavailable'],
    ['without capabilities', { status: statusOf({}, { capabilities: undefined }) }, 'unsupported'],
    ['without that workspace', { selection: { ...selection, workspaceId: 'gone' } }, 'missing'],
  ])('cannot be told of a worker that is %s', (_, options, reason) => {
    expect(reasonOf(() => resolveWorkspace({ status: statusOf(), selection, ...options }))).toBe(reason);
  });
});

describe('the selection of an environment', () => {
  const other = { environmentId: 'other', workspaceId: 'w' };

  it('is what the conversation holds, or else what is asked for', () => {
    expect(selectionOf('env', { requested: [other, selection] })).toEqual(selection);
    expect(selectionOf('env', { persisted: [selection], requested: undefined })).toEqual(selection);
    expect(selectionOf('env', { persisted: [selection, other], requested: [other, selection] })).toEqual(
      selection,
    );
    const source = { ...selection, checkout: 'source' } as const;
    expect(selectionOf('env', { requested: [source] })).toEqual(source);
  });

  it.each<[string, unknown, unknown, string]>([
    ['there is none', undefined, undefined, 'required'],
    ['there is none of this environment', [other], undefined, 'required'],
    ['it differs from the one that is held', [selection], [other], 'locked'],
    ['it differs in its checkout', [{ ...selection, checkout: 'source' }], [selection], 'locked'],
    ['it is no list', selection, undefined, 'invalid'],
    ['it has a key more', [{ ...selection, path: '/' }], undefined, 'invalid'],
    ['it names one environment twice', [selection, selection], undefined, 'invalid'],
    ['its workspace is no id', [{ ...selection, workspaceId: '../x' }], undefined, 'invalid'],
    ['its checkout is unknown', [{ ...selection, checkout: 'both' }], undefined, 'invalid'],
  ])('is refused where %s', (_, requested, persisted, reason) => {
    expect(reasonOf(() => selectionOf('env', { requested, persisted }))).toBe(reason);
  });

  it('is refused in the form of LibreChat', () => {
    expect(new WorkspaceSelectionError('missing')).toMatchObject({
      code: 'code_workspace_unavailable',
      status: 409,
      reason: 'missing',
    });
  });
});

it('the id of a clone depends on user, conversation and environment, and on nothing else', () => {
  const id = conversationInstanceId('user', 'conversation', 'env');
  expect(id).toMatch(/^[0-9a-f]{64}$/);
  expect(conversationInstanceId('user', 'conversation', 'env')).toBe(id);
  const others = [
    conversationInstanceId('userc', 'onversation', 'env'),
    conversationInstanceId('user', 'conversation', 'other'),
    conversationInstanceId('conversation', 'user', 'env'),
  ];
  expect(new Set([id, ...others]).size).toBe(4);
});
