import type { WorkspaceToolResult } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { fromLaneResult } from '../index.js';

const envelope = { protocolVersion: 1, workspaceId: 'primary' } as const;
const prefix = 'agents/.worktrees/a/';

describe('fromLaneResult puts the prefix back', () => {
  it.each<WorkspaceToolResult & { path: string }>([
    {
      ...envelope,
      operation: 'read_file',
      path: 'src/x',
      content: 'x',
      startLine: 1,
      endLine: 1,
      truncated: false,
    },
    { ...envelope, operation: 'write_file', path: 'src/x', created: true, bytesWritten: 1 },
    { ...envelope, operation: 'edit_file', path: 'src/x', replacements: 1, bytesWritten: 1 },
    {
      ...envelope,
      operation: 'preview_edit',
      path: 'src/x',
      replacements: 1,
      bytesWritten: 1,
      content: 'x',
      hasUtf8Bom: false,
      baseSha256: '0'.repeat(64),
    },
  ])('[L20] before the path of $operation', (result) => {
    expect(fromLaneResult(result, prefix)).toStrictEqual({ ...result, path: 'agents/.worktrees/a/src/x' });
  });

  it('[L20] before the path of every match', () => {
    const match = (path: string) => ({ path, line: 1, column: 1, text: 'src/x' });
    const result: WorkspaceToolResult = {
      ...envelope,
      operation: 'search_text',
      matches: [match('src/x'), match('y')],
      truncated: true,
    };
    expect(fromLaneResult(result, prefix)).toStrictEqual({
      ...result,
      matches: [match('agents/.worktrees/a/src/x'), match('agents/.worktrees/a/y')],
    });
  });

  it('[L20] before every listed path and the cursor', () => {
    const list = { ...envelope, operation: 'list_files', paths: ['b', 'c/d'] } as const;
    expect(
      fromLaneResult({ ...list, paths: [...list.paths], truncated: true, nextAfterPath: 'c/d' }, prefix),
    ).toStrictEqual({
      ...list,
      paths: ['agents/.worktrees/a/b', 'agents/.worktrees/a/c/d'],
      truncated: true,
      nextAfterPath: 'agents/.worktrees/a/c/d',
    });
    const last: WorkspaceToolResult = { ...list, paths: [], truncated: false };
    expect(fromLaneResult(last, prefix)).toStrictEqual(last);
  });

  it('[L20] and leaves what a command printed untouched', () => {
    const result: WorkspaceToolResult = {
      ...envelope,
      operation: 'execute_command',
      exitCode: 0,
      stdout: 'src/x',
      stderr: 'src/y',
      truncated: false,
      timedOut: false,
    };
    expect(fromLaneResult(result, prefix)).toStrictEqual(result);
  });
});
