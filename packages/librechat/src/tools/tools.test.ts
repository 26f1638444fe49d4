import type { WorkspaceToolRequest, WorkspaceToolResult } from '@codelanes/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import {
  renderError,
  renderResult,
  requestOfToolCall,
  runToolCall,
  workspaceToolDefinitions,
  workspaceToolNames,
  WorkspaceToolHttpError,
  type ResolvedWorkspace,
  type WorkspaceToolName,
} from '../index.js';
import { StubBridge } from '../testing/stub-bridge.js';

const workspace: ResolvedWorkspace = {
  workspaceId: 'primary',
  operations: ['read_file', 'search_text', 'list_files', 'write_file', 'edit_file', 'execute_command'],
  routing: { kind: 'lanes', lanes: { repositories: ['api'], worktrees: [''] } },
  programmatic: false,
  maxCommandTimeoutMs: 60_000,
  editFileFeatures: ['replace_all'],
};
const envelope = { protocolVersion: 1, workspaceId: 'primary' } as const;

describe('the definitions of tools', () => {
  it('are those of the operations that the workspace offers', () => {
    const names = (operations: string[]) =>
      workspaceToolDefinitions({ ...workspace, operations }).map(({ name }) => name);
    expect(names(workspace.operations.slice())).toEqual([...workspaceToolNames]);
    expect(names(['read_file', 'preview_edit', 'of_the_future'])).toEqual(['read_file']);
  });

  it('are bounded by what the workspace allows', () => {
    const bash = workspaceToolDefinitions(workspace).find(({ name }) => name === 'bash_tool');
    expect(bash?.parameters.properties['timeout_ms']).toMatchObject({ maximum: 60_000 });
    const edit = JSON.stringify(workspaceToolDefinitions({ ...workspace, editFileFeatures: [] }));
    expect(edit).not.toContain('replace_all');
  });

  it('tell of lanes only where there are some', () => {
    expect(JSON.stringify(workspaceToolDefinitions(workspace))).toContain('.worktrees/fix-login');
    const without = workspaceToolDefinitions({ ...workspace, routing: { kind: 'checkout' } });
    expect(JSON.stringify(without)).not.toMatch(/worktree|repositor/);
  });
});

describe('a tool call of a model', () => {
  it.each<[WorkspaceToolName, object, object]>([
    ['read_file', { path: 'workspace/a.ts', start_line: 2, max_lines: null }, { path: 'a.ts', startLine: 2 }],
    [
      'search_workspace',
      { query: 'x', path: 'workspace/.worktrees/a/' },
      { query: 'x', path: '.worktrees/a' },
    ],
    ['search_workspace', { query: 'x', path: '.' }, { query: 'x' }],
    ['list_workspace_files', { after_path: 'b', max_results: 2 }, { afterPath: 'b', maxResults: 2 }],
    ['create_file', { path: 'workspace/n', content: '' }, { path: 'n', content: '', overwrite: false }],
    [
      'edit_file',
      { path: 'workspace/n', edits: [{ old_text: 'a', new_text: 'b', replace_all: true }] },
      { path: 'n', edits: [{ oldText: 'a', newText: 'b', replaceAll: true }] },
    ],
    [
      'bash_tool',
      { command: 'ls', cwd: './api//src', workspace_worktree: 'b' },
      { command: 'ls', cwd: 'api/src' },
    ],
  ])('%s of %o is a request', (tool, args, fields) => {
    const operations = { search_workspace: 'search_text', list_workspace_files: 'list_files' };
    const operation = { ...operations, create_file: 'write_file', bash_tool: 'execute_command' };
    const named: Readonly<Record<string, string>> = operation;
    expect(requestOfToolCall(tool, args, workspace)).toEqual({
      request: { ...envelope, operation: named[tool] ?? tool, ...fields },
    });
  });

  it('in a clone of the conversation has its id', () => {
    const workspaceInstanceId = 'a'.repeat(64);
    const cloned = { ...workspace, routing: { kind: 'instance', workspaceInstanceId } } as const;
    expect(requestOfToolCall('read_file', { path: 'x' }, cloned)).toMatchObject({
      request: { workspaceInstanceId },
    });
  });

  it.each<[WorkspaceToolName, unknown]>([
    ['read_file', { path: 'workspace/../x' }],
    ['read_file', undefined],
    ['bash_tool', { command: 7 }],
    ['edit_file', { path: 'x', edits: ['a'] }],
  ])('%s of %o is none, and it is told why', (tool, args) => {
    const call = requestOfToolCall(tool, args, workspace);
    expect(call).toHaveProperty('fault');
    expect(JSON.stringify(call)).toContain(`The arguments of ${tool} cannot be sent`);
  });
});

type CommandResult = Extract<WorkspaceToolResult, { operation: 'execute_command' }>;
type CommandRequest = Extract<WorkspaceToolRequest, { operation: 'execute_command' }>;

const command: CommandRequest = { ...envelope, operation: 'execute_command', command: 'make' };
const ended: CommandResult = {
  ...envelope,
  operation: 'execute_command',
  stdout: '',
  stderr: '',
  exitCode: 0,
  truncated: false,
  timedOut: false,
};

describe('a result as the model reads it', () => {
  const top = '[starting directory: "workspace/"]\n';
  it.each<[string, Partial<CommandRequest>, Partial<CommandResult>, string]>([
    ['without output', {}, {}, `${top}The command wrote nothing.\n[exit code: 0]`],
    [
      'with output and another status',
      { cwd: '.worktrees/a' },
      { stdout: 'out', stderr: 'err', exitCode: 3, truncated: true },
      '[starting directory: "workspace/.worktrees/a"]\nstdout:\nout\nstderr:\nerr\n[exit code: 3][output truncated]',
    ],
    [
      'that was killed',
      {},
      { exitCode: null, signal: 'SIGKILL', stdout: 'x' },
      `${top}stdout:\nx\n[terminated by SIGKILL]`,
    ],
    [
      'that ran out of time',
      { timeoutMs: 5 },
      { exitCode: null, timedOut: true, stdout: 'x' },
      `${top}stdout:\nx\n[timed out]\nThe command was stopped after 5 ms. See what it did before you repeat it, with more time.`,
    ],
    [
      'that began with cd',
      { command: 'cd .worktrees/a && make' },
      {},
      `${top}The command wrote nothing.\n[exit code: 0]\n[hint: to work in a folder pass it as cwd. A "cd" in the command selects no worktree lane.]`,
    ],
  ])('of a command %s', (_, fields, more, text) => {
    expect(renderResult({ ...command, ...fields }, { ...ended, ...more })).toBe(text);
  });

  const list = { ...envelope, operation: 'list_files' } as const;
  const search = { ...envelope, operation: 'search_text', query: 'q' } as const;
  const read = { ...envelope, operation: 'read_file', path: 'a' } as const;
  const edit = { ...envelope, path: 'a', edits: [{ oldText: 'a', newText: 'b' }] };
  const match = { path: '.worktrees/a/x', line: 1, column: 2, text: 'a q' };
  it.each<[WorkspaceToolRequest, WorkspaceToolResult, string]>([
    [
      read,
      { ...read, content: 'x\ny', startLine: 4, endLine: 5, truncated: true, nextStartLine: 6 },
      '4 | x\n5 | y\n\n[there is more: read_file with path "workspace/a" and start_line 6]',
    ],
    [
      read,
      { ...read, content: '', startLine: 9, endLine: 8, truncated: false },
      'workspace/a has no lines from line 9 on.',
    ],
    [search, { ...envelope, operation: 'search_text', matches: [], truncated: false }, 'Nothing was found.'],
    [
      search,
      { ...envelope, operation: 'search_text', matches: [match], truncated: true },
      'workspace/.worktrees/a/x:1:2: a q\n[there are more matches: search a folder, or a longer text]',
    ],
    [list, { ...list, paths: [], truncated: false }, 'There are no files.'],
    [
      list,
      { ...list, paths: ['a', 'b'], truncated: true, nextAfterPath: 'b' },
      'workspace/a\nworkspace/b\n[there are more: list again with after_path "b"]',
    ],
    [
      { ...envelope, operation: 'write_file', path: 'a', content: 'x' },
      { ...envelope, operation: 'write_file', path: 'a', created: true, bytesWritten: 1 },
      'Created workspace/a (1 bytes).',
    ],
    [
      { ...edit, operation: 'edit_file' },
      {
        ...envelope,
        operation: 'edit_file',
        path: 'a',
        replacements: 1,
        bytesWritten: 1,
        matches: [{ strategy: 'exact', occurrences: 3 }],
      },
      'Edited workspace/a: 1 edits in 3 places.',
    ],
  ])('of $operation', (request, result, text) => {
    expect(renderResult(request, result)).toBe(text);
  });
});

describe('a failure as the model reads it', () => {
  const rejected = (status: number, body: object) =>
    new WorkspaceToolHttpError('rejected', status, JSON.stringify(body));
  const create = { ...envelope, operation: 'write_file', path: 'a', content: '', overwrite: false } as const;

  it.each<[string, WorkspaceToolRequest, WorkspaceToolHttpError, string]>([
    [
      'says what to do next',
      command,
      rejected(409, { code: 'WORKSPACE_QUARANTINED', error: 'The lane is closed.', next: 'Wait.' }),
      'The lane is closed. Wait.',
    ],
    [
      'of an edit has the words of the worker',
      { ...envelope, operation: 'edit_file', path: 'a', oldText: 'a', newText: 'b' },
      rejected(409, { code: 'EDIT_CONFLICT', error: 'Edit 1 was not found.' }),
      'The edit does not fit the file, and nothing was changed: Edit 1 was not found.',
    ],
    [
      'of a file that is there already says how to go on',
      create,
      rejected(409, { code: 'EDIT_CONFLICT', error: 'It exists.' }),
      'workspace/a already exists, and was not changed. Read it, then edit it or send it with overwrite.',
    ],
    [
      'without words of the bridge has those of the client',
      command,
      new WorkspaceToolHttpError('timeout'),
      'The workspace tool call ran out of time. Its outcome is unknown: look before it is repeated.',
    ],
  ])('%s', (_, request, error, text) => {
    expect(renderError(request, error)).toBe(text);
  });

  it('of the rate limit says that nothing was started', () => {
    expect(renderError(command, rejected(429, { error: 'rate_limited' }))).toContain('Nothing was started');
  });
});

describe('a tool call from its arguments to what the model reads', () => {
  let stub: StubBridge;
  afterEach(() => stub.stop());

  it('runs in the lane of its path', async () => {
    stub = await StubBridge.start({ body: { ...ended, stdout: 'x' } });
    const transport = { baseURL: stub.baseURL, authHeaders: {} };
    const args = { command: 'make', cwd: 'workspace/.worktrees/a/src' };
    expect(await runToolCall('bash_tool', args, workspace, transport)).toEqual({
      content: '[starting directory: "workspace/.worktrees/a/src"]\nstdout:\nx\n[exit code: 0]',
      isError: false,
    });
    expect(JSON.parse(stub.requests[0]?.body ?? '')).toEqual({ ...command, cwd: 'src', worktree: 'a' });
  });

  it('is an error that the model reads, where it is refused or never sent', async () => {
    stub = await StubBridge.start({ status: 422, body: { code: 'NOT_FOUND', error: 'No such file.' } });
    const transport = { baseURL: stub.baseURL, authHeaders: {} };
    expect(await runToolCall('read_file', { path: 'workspace/x' }, workspace, transport)).toEqual({
      content: 'No such file.',
      isError: true,
    });
    expect(await runToolCall('read_file', {}, workspace, transport)).toMatchObject({ isError: true });
    expect(stub.requests).toHaveLength(1);
  });
});
