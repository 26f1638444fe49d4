import { describe, expect, it } from 'vitest';
import type { Capabilities } from './capabilities.js';
import { CodelanesError } from './errors.js';
import { assertAdvertised, assertLaneAdvertised, assertScriptAdvertised, requireWorkspace } from './gate.js';
import { workspaceToolRequestSchema, type WorkspaceToolRequest } from './operations.js';
import { capabilities } from './testing/capabilities.js';

const envelope = { protocolVersion: 1, workspaceId: 'primary' } as const;
const requests: readonly WorkspaceToolRequest[] = [
  { ...envelope, operation: 'read_file', path: 'f' },
  { ...envelope, operation: 'search_text', query: 'q' },
  { ...envelope, operation: 'list_files' },
  { ...envelope, operation: 'write_file', path: 'f', content: '' },
  { ...envelope, operation: 'preview_edit', path: 'f', oldText: 'a', newText: 'b' },
  { ...envelope, operation: 'edit_file', path: 'f', oldText: 'a', newText: 'b' },
  { ...envelope, operation: 'execute_command', command: 'true' },
];
const withLanes = capabilities({ workspaceScopes: ['git_linked_worktree'] });
const uiAlias = { id: 'primary:ui', aliasOf: { workspaceId: 'primary', repository: 'libs/ui' } };
const withRepositories = capabilities(
  {},
  {
    workspaces: [
      { id: 'primary', workspaceScopes: ['repository'] },
      { ...uiAlias, workspaceScopes: ['git_linked_worktree'] },
      { id: 'primary:api', aliasOf: { workspaceId: 'primary', repository: 'api' } },
    ],
  },
);

function mismatch(offered: Capabilities, request: WorkspaceToolRequest): string {
  return refused(() => {
    assertAdvertised(offered, request);
  });
}

function refused(act: () => void): string {
  try {
    act();
  } catch (error) {
    if (CodelanesError.is(error) && error.code === 'WORKER_MISMATCH') return error.message;
    throw error;
  }
  return 'was let through';
}

describe('the gate', () => {
  it.each(requests)(
    '[L1] [L3] lets $operation into a worktree that is advertised, and only there',
    (request) => {
      const laned = workspaceToolRequestSchema.parse({ ...request, worktree: 'a' });
      expect(mismatch(withLanes, laned)).toBe('was let through');
      expect(mismatch(capabilities(), laned)).toContain('git_linked_worktree');
      expect(mismatch(capabilities({ workspaceScopes: ['repository'] }), laned)).toContain(
        'git_linked_worktree',
      );
    },
  );

  it.each(requests)(
    '[L3] lets $operation into a repository that is advertised, and only there',
    (request) => {
      const laned = workspaceToolRequestSchema.parse({ ...request, repository: 'libs/ui' });
      expect(mismatch(withRepositories, laned)).toBe('was let through');
      expect(mismatch(withLanes, laned)).toContain('repository');
      const unknown = workspaceToolRequestSchema.parse({ ...request, repository: 'libs' });
      expect(mismatch(withRepositories, unknown)).toBe(
        'Workspace "primary" has no repository "libs"; it has "libs/ui", "api".',
      );
    },
  );

  it.each(requests)(
    'lets $operation into a worktree of a repository that has some, by either name',
    (request) => {
      const laned = (fields: object) =>
        workspaceToolRequestSchema.parse({ ...request, worktree: 'a', ...fields });
      expect(mismatch(withRepositories, laned({ repository: 'libs/ui' }))).toBe('was let through');
      expect(mismatch(withRepositories, laned({ workspaceId: 'primary:ui' }))).toBe('was let through');
      expect(mismatch(withRepositories, laned({ repository: 'api' }))).toContain('Repository "api"');
      expect(mismatch(withRepositories, laned({ workspaceId: 'primary:api' }))).toContain('"primary:api"');
      expect(mismatch(withRepositories, laned({}))).toContain('Workspace "primary" does not offer linked');
    },
  );

  it.each(requests)(
    'lets $operation name a repository by its workspace or by the field, not by both',
    (request) => {
      const both = workspaceToolRequestSchema.parse({
        ...request,
        workspaceId: 'primary:ui',
        repository: 'libs/ui',
      });
      expect(mismatch(withRepositories, both)).toContain('send the one or the other');
    },
  );

  it.each(requests)('[L27] lets $operation without a lane through, lanes advertised or not', (request) => {
    expect(mismatch(withLanes, request)).toBe('was let through');
    expect(mismatch(capabilities(), request)).toBe('was let through');
    expect(mismatch(capabilities({ workspaceScopes: [] }), request)).toBe('was let through');
  });

  it.each(requests)('refuses $operation where it is not offered, by worker or workspace', (request) => {
    const others = requests.map(({ operation }) => operation).filter((each) => each !== request.operation);
    expect(mismatch(capabilities({}, { operations: others }), request)).toContain(request.operation);
    expect(mismatch(capabilities({ operations: others }), request)).toContain(request.operation);
  });

  it('says why a worker runs no commands, to whoever sends one and nobody else', () => {
    const whyNoCommands = 'No command is run on this machine. Install bubblewrap.';
    const [first] = requests.filter(({ operation }) => operation !== 'execute_command');
    const { operations, ...tools } = capabilities().workspaceTools;
    const without = (kept: typeof operations): Capabilities => {
      return { ...capabilities(), whyNoCommands, workspaceTools: { ...tools, operations: kept } };
    };
    const noCommands = without(operations.filter((each) => each !== 'execute_command'));
    const command: WorkspaceToolRequest = { ...envelope, operation: 'execute_command', command: 'true' };
    expect(mismatch(noCommands, command)).toBe(
      `Workspace "primary" does not offer execute_command. ${whyNoCommands}`,
    );
    expect(
      refused(() => {
        assertScriptAdvertised(noCommands, envelope);
      }),
    ).toContain(`does not offer programmatic calls. ${whyNoCommands}`);
    expect(first && mismatch(noCommands, first)).toBe('was let through');
    expect(first && mismatch(without(['execute_command']), first)).not.toContain('bubblewrap');
  });

  it('names the repositories that have worktrees, where the workspace itself has none', () => {
    const request: WorkspaceToolRequest = { ...envelope, worktree: 'a', operation: 'list_files' };
    expect(mismatch(withRepositories, request)).toMatch(
      /name one of its repositories that do: "libs\/ui"\.$/u,
    );
    expect(mismatch(capabilities(), request)).not.toContain('repositories');
  });

  it('refuses conversation instances, which no worker offers yet', () => {
    const request = { ...envelope, operation: 'list_files', workspaceInstanceId: '0'.repeat(64) } as const;
    expect(mismatch(withLanes, request)).toContain('conversation instances');
  });

  it('names the workspaces that there are', () => {
    expect(refused(() => requireWorkspace(capabilities(), 'other'))).toContain('"primary"');
    expect(requireWorkspace(capabilities(), 'primary').id).toBe('primary');
  });

  it('[L3] guards programmatic calls by the same fields', () => {
    const act = () => {
      assertLaneAdvertised(capabilities(), { workspaceId: 'primary', worktree: 'a' });
    };
    expect(refused(act)).toContain('git_linked_worktree');
  });

  it.each<[string, WorkspaceToolRequest, Partial<Capabilities['workspaceTools']>]>([
    [
      'creating files',
      { ...envelope, operation: 'write_file', path: 'f', content: '', overwrite: false },
      { writeFileModes: ['replace'] },
    ],
    [
      'replacing files',
      { ...envelope, operation: 'write_file', path: 'f', content: '', overwrite: true },
      { writeFileModes: ['create'] },
    ],
    [
      'replacing files, which is meant without the field',
      { ...envelope, operation: 'write_file', path: 'f', content: '' },
      { writeFileModes: ['create'] },
    ],
    [
      'edits in a batch',
      {
        ...envelope,
        operation: 'edit_file',
        path: 'f',
        edits: [
          { oldText: 'a', newText: 'b' },
          { oldText: 'c', newText: 'd' },
        ],
      },
      { editFileModes: ['single'] },
    ],
    [
      'tolerant matching',
      { ...envelope, operation: 'preview_edit', path: 'f', oldText: 'a', newText: 'b', matching: 'tolerant' },
      { editFileFeatures: [] },
    ],
    [
      'replaceAll',
      {
        ...envelope,
        operation: 'edit_file',
        path: 'f',
        edits: [{ oldText: 'a', newText: 'b', replaceAll: true }],
      },
      { editFileFeatures: [] },
    ],
    [
      'fenced edits',
      {
        ...envelope,
        operation: 'edit_file',
        path: 'f',
        oldText: 'a',
        newText: 'b',
        expectedBaseSha256: '0'.repeat(64),
      },
      { editFileFeatures: [] },
    ],
    ['continued lists', { ...envelope, operation: 'list_files', afterPath: 'f' }, { listFileFeatures: [] }],
  ])('refuses %s where the worker does not offer it', (_, request, tools) => {
    expect(mismatch(capabilities(), request)).toBe('was let through');
    expect(mismatch(capabilities({}, tools), request)).toContain('does not offer');
  });

  it('refuses environment actions of a workspace without a definition', () => {
    const environmentAction = { name: 'test', fingerprint: '0'.repeat(64) };
    const request = { ...envelope, operation: 'execute_command', command: 'x', environmentAction } as const;
    expect(mismatch(withLanes, request)).toContain('environment actions');
  });
});
