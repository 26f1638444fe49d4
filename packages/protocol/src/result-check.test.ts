import { describe, expect, it } from 'vitest';
import type { WorkspaceToolRequest, WorkspaceToolResult } from './operations.js';
import type { EditFileRequest } from './operations/edit.js';
import { resultFault } from './result-check.js';

const envelope = { protocolVersion: 1, workspaceId: 'primary' } as const;

/** A pair that fits, and changes of the result that each make a fault whose sentence holds the words. */
function faults<R extends WorkspaceToolResult>(
  request: WorkspaceToolRequest,
  result: R,
  rows: readonly (readonly [change: Partial<R>, words: string])[],
): void {
  it('fits as it is', () => {
    expect(resultFault(request, result)).toBeUndefined();
  });

  it.each(rows.map(([change, words]) => ({ change, words })))(
    'is wrong with $change',
    ({ change, words }) => {
      expect(resultFault(request, { ...result, ...change })).toContain(words);
    },
  );

  it('is wrong for another workspace', () => {
    expect(resultFault(request, { ...result, workspaceId: 'other' })).toContain('workspaceId');
  });

  it('is wrong for another operation', () => {
    const other: WorkspaceToolRequest =
      request.operation === 'list_files'
        ? { ...envelope, operation: 'execute_command', command: 'x' }
        : { ...envelope, operation: 'list_files' };
    expect(resultFault(other, result)).toContain(`of ${result.operation}`);
  });
}

it('a setup answers no request of a caller', () => {
  const request = { ...envelope, operation: 'execute_command', command: 'x' } as const;
  const setup = { protocolVersion: 1, operation: 'setup', state: 'ready' } as const;
  expect(resultFault(request, setup)).toBe('the result is of setup, but execute_command was asked');
});

describe('a result of read_file', () => {
  const request = { ...envelope, operation: 'read_file', path: 'f', startLine: 3, maxLines: 2 } as const;
  const result = {
    ...envelope,
    operation: 'read_file',
    path: 'f',
    content: 'a\nb',
    startLine: 3,
    endLine: 4,
    truncated: true,
    nextStartLine: 5,
  } as const satisfies WorkspaceToolResult;
  faults<Extract<WorkspaceToolResult, { operation: 'read_file' }>>(request, result, [
    [{ path: 'g' }, 'path'],
    [{ startLine: 1 }, 'startLine'],
    [{ endLine: 1 }, 'before startLine'],
    [{ endLine: 5, content: 'a\nb\nc' }, 'at most 2'],
    [{ content: 'a' }, '1 lines'],
    [{ content: 'a\nb\n' }, '3 lines'],
    [{ endLine: 3, content: 'a', nextStartLine: 5 }, 'nextStartLine must be 4'],
    [{ nextStartLine: undefined }, 'nextStartLine must be 5'],
    [{ truncated: false }, 'not truncated'],
  ]);

  const whole = (endLine: number, content: string) =>
    resultFault(
      { ...envelope, operation: 'read_file', path: 'f' },
      { ...envelope, operation: 'read_file', path: 'f', content, startLine: 1, endLine, truncated: false },
    );

  it('may tell an empty file as no line or as an empty one', () => {
    expect(whole(0, '')).toBeUndefined();
    expect(whole(1, '')).toBeUndefined();
    expect(whole(2, '')).toContain('1 lines');
  });

  it('may tell 200 lines by default', () => {
    expect(whole(200, 'x\n'.repeat(199))).toBeUndefined();
    expect(whole(201, 'x\n'.repeat(200))).toContain('at most 200');
  });

  it('has at most 1 MiB', () => {
    expect(whole(1, 'x'.repeat(1024 * 1024))).toBeUndefined();
    expect(whole(1, 'x'.repeat(1024 * 1024 + 1))).toContain('bytes');
  });
});

describe('a result of an instruction read', () => {
  const request = {
    ...envelope,
    operation: 'read_file',
    path: 'AGENTS.md',
    instructionSha256: '0'.repeat(64),
  } as const;
  const result = {
    ...envelope,
    operation: 'read_file',
    path: 'AGENTS.md',
    content: 'x\n'.repeat(600),
    startLine: 1,
    endLine: 601,
    truncated: false,
  } as const;
  faults<Extract<WorkspaceToolResult, { operation: 'read_file' }>>(request, result, [
    [{ startLine: 2 }, 'startLine'],
    [{ endLine: 600 }, 'endLine'],
    [{ truncated: true, nextStartLine: 602 }, 'no place'],
    [{ content: 'x'.repeat(32_769), endLine: 1 }, '32768'],
  ]);

  it('may have 32 KiB, cut', () => {
    const content = 'x'.repeat(32_768);
    expect(resultFault(request, { ...result, content, endLine: 1, truncated: true })).toBeUndefined();
  });
});

describe('a result of search_text', () => {
  const request = { ...envelope, operation: 'search_text', query: 'q', path: 'src', maxResults: 2 } as const;
  const match = (path: string, text = 'a q') => ({ path, line: 1, column: 3, text });
  const result = {
    ...envelope,
    operation: 'search_text' as const,
    matches: [match('src'), match('src/x')],
    truncated: true,
  };
  faults<Extract<WorkspaceToolResult, { operation: 'search_text' }>>(request, result, [
    [{ matches: [match('src/a'), match('src/b'), match('src/c')] }, 'at most 2'],
    [{ matches: [match('src2/x')] }, 'outside'],
    [{ matches: [match('x')] }, 'outside'],
    [{ matches: [match('src/x', 'none')] }, 'does not hold'],
  ]);

  it('may hold 50 matches by default', () => {
    const of = (count: number) =>
      resultFault(
        { ...envelope, operation: 'search_text', query: 'q' },
        { ...result, matches: Array.from({ length: count }, () => match('f')) },
      );
    expect(of(50)).toBeUndefined();
    expect(of(51)).toContain('at most 50');
  });
});

describe('a result of list_files', () => {
  const request = {
    ...envelope,
    operation: 'list_files',
    path: 'src',
    maxResults: 3,
    afterPath: 'src/a',
  } as const;
  const result = {
    ...envelope,
    operation: 'list_files' as const,
    paths: ['src/a.b', 'src/a/b', 'src/\uffee'],
    truncated: true,
    nextAfterPath: 'src/\uffee',
  };
  faults<Extract<WorkspaceToolResult, { operation: 'list_files' }>>(request, result, [
    [{ paths: ['src/b', 'src/c', 'src/d', 'src/e'], nextAfterPath: 'src/e' }, 'at most 3'],
    [{ paths: ['other'], nextAfterPath: 'other' }, 'outside'],
    [{ paths: ['src/a/b', 'src/a.b'], nextAfterPath: 'src/a.b' }, 'byte order'],
    [{ paths: ['src/😀', 'src/\uffee'], nextAfterPath: 'src/\uffee' }, 'byte order'],
    [{ paths: ['src/b', 'src/b'], nextAfterPath: 'src/b' }, 'byte order'],
    [{ paths: ['src/a'], nextAfterPath: 'src/a' }, 'byte order'],
    [{ nextAfterPath: 'src/a/b' }, 'last path'],
    [{ nextAfterPath: undefined }, 'last path'],
    [{ truncated: false }, 'not truncated'],
    [{ paths: [], nextAfterPath: undefined }, 'at least one'],
  ]);

  it('may hold 100 paths by default, or none', () => {
    const of = (paths: string[]) =>
      resultFault(
        { ...envelope, operation: 'list_files' },
        { ...envelope, operation: 'list_files', paths, truncated: false },
      );
    const named = (count: number) => Array.from({ length: count }, (_, index) => `f${1000 + index}`);
    expect(of([])).toBeUndefined();
    expect(of(named(100))).toBeUndefined();
    expect(of(named(101))).toContain('at most 100');
  });
});

describe('a result of write_file', () => {
  const request = {
    ...envelope,
    operation: 'write_file',
    path: 'f',
    content: 'ä',
    overwrite: false,
  } as const;
  const result = { ...envelope, operation: 'write_file' as const, path: 'f', created: true, bytesWritten: 2 };
  faults<Extract<WorkspaceToolResult, { operation: 'write_file' }>>(request, result, [
    [{ path: 'g' }, 'path'],
    [{ bytesWritten: 1 }, 'bytesWritten'],
    [{ created: false }, 'created'],
  ]);

  it.each([true, undefined])('may have replaced a file with overwrite %s', (overwrite) => {
    const replacing: WorkspaceToolRequest = {
      ...envelope,
      operation: 'write_file',
      path: 'f',
      content: 'ä',
      overwrite,
    };
    expect(resultFault(replacing, { ...result, created: false })).toBeUndefined();
  });
});

describe('a result of edit_file', () => {
  const edits = [
    { oldText: 'a', newText: 'b', replaceAll: true },
    { oldText: 'c', newText: 'd' },
  ];
  const request: EditFileRequest = { ...envelope, operation: 'edit_file', path: 'f', edits };
  const exact = (occurrences: number) => ({ strategy: 'exact' as const, occurrences });
  const trimmed = { strategy: 'line-trimmed' as const, occurrences: 1 };
  const result = {
    ...envelope,
    operation: 'edit_file' as const,
    path: 'f',
    replacements: 2,
    bytesWritten: 9,
    matches: [exact(5), exact(1)],
  };
  faults<Extract<WorkspaceToolResult, { operation: 'edit_file' }>>(request, result, [
    [{ path: 'g' }, 'path'],
    [{ replacements: 6 }, 'replacements'],
    [{ bytesWritten: 1024 * 1024 + 1 }, 'bytesWritten'],
    [{ matches: undefined }, 'missing'],
    [{ matches: [exact(5)] }, '1 matches'],
    [{ matches: [exact(5), exact(2)] }, 'replaceAll was not asked'],
    [{ matches: [exact(5), trimmed] }, 'tolerance was not asked'],
  ]);

  it('may tell a tolerant match where that was asked', () => {
    const tolerant: EditFileRequest = { ...request, matching: 'tolerant' };
    expect(resultFault(tolerant, { ...result, matches: [exact(5), trimmed] })).toBeUndefined();
  });

  it('tells no matches where none were asked', () => {
    const plain: EditFileRequest = {
      ...envelope,
      operation: 'edit_file',
      path: 'f',
      oldText: 'a',
      newText: 'b',
    };
    const { matches, ...told } = { ...result, replacements: 1 };
    expect(resultFault(plain, told)).toBeUndefined();
    expect(resultFault(plain, { ...told, matches: matches.slice(0, 1) })).toContain('did not ask');
  });
});

describe('a result of preview_edit', () => {
  const request = { ...envelope, operation: 'preview_edit', path: 'f', oldText: 'a', newText: 'ä' } as const;
  const result = {
    ...envelope,
    operation: 'preview_edit' as const,
    path: 'f',
    replacements: 1,
    bytesWritten: 5,
    content: 'ä',
    hasUtf8Bom: true,
    baseSha256: '0'.repeat(64),
  };
  faults<Extract<WorkspaceToolResult, { operation: 'preview_edit' }>>(request, result, [
    [{ path: 'g' }, 'path'],
    [{ replacements: 2 }, 'replacements'],
    [{ bytesWritten: 2 }, 'bytesWritten'],
    [{ hasUtf8Bom: false }, 'bytesWritten'],
    [{ content: '\ud800' }, 'well-formed'],
    [{ matches: [{ strategy: 'exact', occurrences: 1 }] }, 'did not ask'],
  ]);
});

describe('a result of execute_command', () => {
  const request = { ...envelope, operation: 'execute_command', command: 'x', maxOutputBytes: 4 } as const;
  const result = {
    ...envelope,
    operation: 'execute_command' as const,
    exitCode: 0,
    stdout: 'ä',
    stderr: 'xx',
    truncated: false,
    timedOut: false,
  };
  faults<Extract<WorkspaceToolResult, { operation: 'execute_command' }>>(request, result, [
    [{ stderr: 'xxx' }, '5 bytes'],
    [{ stdout: 'ä', stderr: 'ä!' }, '5 bytes'],
    [{ stdout: '\ud800' }, 'well-formed'],
    [{ stderr: '\udc00' }, 'well-formed'],
    [{ exitCode: null }, 'null without'],
    [{ timedOut: true }, 'beside a time-out'],
    [{ signal: 'SIGKILL' }, 'beside a time-out'],
  ]);

  it.each([{ timedOut: true }, { signal: 'SIGKILL' }, { timedOut: true, signal: 'SIGTERM' }])(
    'has no exit code with %o',
    (ending) => {
      expect(resultFault(request, { ...result, exitCode: null, ...ending })).toBeUndefined();
    },
  );

  it('has at most 256 KiB of output by default, both streams together', () => {
    const of = (stdout: number, stderr: number) =>
      resultFault(
        { ...envelope, operation: 'execute_command', command: 'x' },
        { ...result, stdout: 'x'.repeat(stdout), stderr: 'x'.repeat(stderr) },
      );
    expect(of(262_000, 144)).toBeUndefined();
    expect(of(262_000, 145)).toContain('bytes');
  });
});
