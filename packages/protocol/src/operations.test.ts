import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOperationSchema } from './call.js';
import { isInstructionRead, modeOf, operationKinds } from './operation-kinds.js';
import { operationSchema, workspaceToolRequestSchema, workspaceToolResultSchema } from './operations.js';
import { editsOf, reportsMatches } from './operations/edit.js';
import { programmaticRequestSchema } from './operations/programmatic.js';

const envelope = { protocolVersion: 1, workspaceId: 'primary' };
const edit = { path: 'f', edits: [{ oldText: 'a', newText: 'b' }] };
const fence = '0'.repeat(64);

const requests = [
  { ...envelope, operation: 'read_file', path: 'f', startLine: 1, maxLines: 2 },
  { ...envelope, operation: 'search_text', query: 'q', path: 'd', maxResults: 1 },
  { ...envelope, operation: 'list_files', path: 'd', maxResults: 1, afterPath: 'd/f' },
  { ...envelope, operation: 'write_file', path: 'f', content: '', overwrite: true },
  { ...envelope, operation: 'preview_edit', ...edit, matching: 'exact' },
  { ...envelope, operation: 'edit_file', ...edit, matching: 'tolerant', expectedBaseSha256: fence },
  {
    ...envelope,
    operation: 'execute_command',
    command: 'true',
    cwd: '.',
    timeoutMs: 1,
    maxOutputBytes: 1,
    environmentAction: { name: 'test', fingerprint: fence },
  },
];

const told = {
  path: 'f',
  replacements: 1,
  bytesWritten: 1,
  matches: [{ strategy: 'exact', occurrences: 1 }],
};
const results = [
  {
    ...envelope,
    operation: 'read_file',
    path: 'f',
    content: '',
    startLine: 1,
    endLine: 0,
    truncated: true,
    nextStartLine: 1,
  },
  {
    ...envelope,
    operation: 'search_text',
    matches: [{ path: 'f', line: 1, column: 1, text: 'q' }],
    truncated: false,
  },
  { ...envelope, operation: 'list_files', paths: ['f'], truncated: true, nextAfterPath: 'f' },
  { ...envelope, operation: 'write_file', path: 'f', created: true, bytesWritten: 0 },
  { ...envelope, operation: 'preview_edit', ...told, content: 'x', hasUtf8Bom: false, baseSha256: fence },
  { ...envelope, operation: 'edit_file', ...told },
  {
    ...envelope,
    operation: 'execute_command',
    exitCode: null,
    signal: 'SIGKILL',
    stdout: '',
    stderr: '',
    truncated: false,
    timedOut: false,
    laneGit: { branch: 'main', head: null },
  },
];

const accepts = (value: unknown) => workspaceToolRequestSchema.safeParse(value).success;

/** Every object in a value, each with the way to it. */
function objectsIn(value: unknown, way: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const beneath = Array.isArray(value)
    ? value.flatMap((each, index) => objectsIn(each, [...way, index]))
    : Object.entries(value).flatMap(([key, each]) => objectsIn(each, [...way, key]));
  return Array.isArray(value) ? beneath : [way, ...beneath];
}

function withExtraKey(value: unknown, way: readonly (string | number)[]): unknown {
  const copy: unknown = structuredClone(value);
  let target = copy;
  for (const step of way) target = Reflect.get(Object(target), step);
  Reflect.set(Object(target), 'extra', 1);
  return copy;
}

describe('requests', () => {
  it.each(requests)('[L1] $operation takes a lane beside every field of its own', (request) => {
    expect(accepts(request)).toBe(true);
    expect(accepts({ ...request, worktree: 'a', repository: 'libs/ui' })).toBe(true);
    expect(accepts({ ...request, worktree: 'a/b' })).toBe(false);
    expect(accepts({ ...request, repository: '../up' })).toBe(false);
  });

  it.each(requests)('$operation has a closed key set, at every depth', (request) => {
    for (const way of objectsIn(request)) expect(accepts(withExtraKey(request, way))).toBe(false);
  });

  it.each(requests)('$operation is of protocol version 1 and names a workspace', (request) => {
    expect(accepts({ ...request, protocolVersion: 2 })).toBe(false);
    expect(accepts({ ...request, protocolVersion: undefined })).toBe(false);
    expect(accepts({ ...request, workspaceId: '' })).toBe(false);
    expect(accepts({ ...request, operation: 'format_disk' })).toBe(false);
  });

  it('take a digest-fenced read of instructions alone', () => {
    const read = {
      ...envelope,
      operation: 'read_file',
      path: 'AGENTS.md',
      instructionSha256: fence,
    } as const;
    expect(accepts(read)).toBe(true);
    expect(accepts({ ...read, path: 'CLAUDE.md' })).toBe(true);
    expect(accepts({ ...read, path: 'docs/AGENTS.md' })).toBe(false);
    expect(accepts({ ...read, startLine: 1 })).toBe(false);
    expect(accepts({ ...read, maxLines: 1 })).toBe(false);
    expect(accepts({ ...read, instructionSha256: 'x' })).toBe(false);
    expect(isInstructionRead(workspaceToolRequestSchema.parse(read))).toBe(true);
  });

  it('keep a cursor within its path', () => {
    const list = { ...envelope, operation: 'list_files', path: 'src' };
    expect(accepts({ ...list, afterPath: 'src/x' })).toBe(true);
    expect(accepts({ ...list, afterPath: 'src2/x' })).toBe(false);
  });

  it.each(['a\0', 'a\n', 'a\r', 'a\ud800'])('do not search for %j', (query) => {
    expect(accepts({ ...envelope, operation: 'search_text', query })).toBe(false);
  });

  it.each(['', ' \t\n', 'a\0', 'a\ud800'])('do not run %j', (command) => {
    expect(accepts({ ...envelope, operation: 'execute_command', command })).toBe(false);
  });

  it('hold one form of edits, whole', () => {
    const request = { ...envelope, operation: 'edit_file', path: 'f' };
    const short = { oldText: 'a', newText: '' };
    expect(accepts({ ...request, ...short })).toBe(true);
    expect(accepts({ ...request, ...short, edits: edit.edits })).toBe(false);
    expect(accepts({ ...request, oldText: 'a' })).toBe(false);
    expect(accepts({ ...request, newText: 'a' })).toBe(false);
    expect(accepts(request)).toBe(false);
    expect(accepts({ ...request, oldText: 'a', newText: '\ud800' })).toBe(false);
    expect(editsOf(short)).toEqual([short]);
  });

  it('ask for matches by naming matching or any replaceAll', () => {
    expect(reportsMatches({ edits: [{ oldText: 'a', newText: 'b' }] })).toBe(false);
    expect(reportsMatches({ edits: [{ oldText: 'a', newText: 'b', replaceAll: false }] })).toBe(true);
    expect(reportsMatches({ oldText: 'a', newText: 'b', matching: 'exact' })).toBe(true);
  });
});

describe('results', () => {
  it.each(results)('$operation has a closed key set, at every depth', (result) => {
    expect(workspaceToolResultSchema.safeParse(result).error).toBeUndefined();
    for (const way of objectsIn(result)) {
      expect(workspaceToolResultSchema.safeParse(withExtraKey(result, way)).success).toBe(false);
    }
  });
});

describe('programmatic calls', () => {
  const body = { lang: 'bash', code: 'true', tools: [] };

  it('[L1] name their lane by fields of their own', () => {
    const laned = { ...body, workspace_worktree: 'a', workspace_repository: 'libs/ui' };
    expect(programmaticRequestSchema.parse(laned)).toEqual(laned);
    expect(programmaticRequestSchema.safeParse({ ...body, workspace_worktree: '../a' }).success).toBe(false);
    expect(programmaticRequestSchema.safeParse({ ...body, workspace_repository: '/a' }).success).toBe(false);
  });

  it('drop what the model slipped in', () => {
    expect(programmaticRequestSchema.parse({ ...body, cwd: '.worktrees/a' })).toEqual(body);
  });
});

describe('random JSON', () => {
  it('is refused or taken, and never makes a schema throw', () => {
    const operation = fc.constantFrom<unknown>(...operationSchema.options, 'x', null);
    const lookalike = fc
      .tuple(fc.constantFrom(...requests, ...results), operation, fc.dictionary(fc.string(), fc.jsonValue()))
      .map(([base, kind, more]) => ({ ...base, operation: kind, ...more }));
    const mutated = fc
      .tuple(fc.constantFrom(...requests, ...results), fc.nat(), fc.jsonValue())
      .map(([base, which, value]) => {
        const keys = Object.keys(base);
        return { ...base, [keys[which % keys.length] ?? 'path']: value };
      });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), lookalike, mutated), (value) => {
        for (const schema of [
          workspaceToolRequestSchema,
          workspaceToolResultSchema,
          programmaticRequestSchema,
        ]) {
          expect(typeof schema.safeParse(value).success).toBe('boolean');
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the table of operations', () => {
  const { options } = callOperationSchema;

  it('shares reads, where the worker shares them, and setups, and gives commands and setups slots', () => {
    expect(options.filter((operation) => modeOf(operation, true) === 'shared')).toEqual([
      'read_file',
      'search_text',
      'list_files',
      'preview_edit',
      'setup',
    ]);
    expect(options.filter((operation) => operationKinds[operation].pool === 'command')).toEqual([
      'execute_command',
      'setup',
      'run_script',
      'resume_script',
    ]);
  });

  it('[L27] makes every call of a worker that does not share reads exclusive', () => {
    expect(new Set(options.map((operation) => modeOf(operation, false)))).toEqual(new Set(['exclusive']));
  });
});
