import type { WorkspaceToolResult } from '@codelanes/protocol';

/**
 * Puts the prefix of `toLaneRequest` back before every path of a lane's result, so that a caller sees the paths
 * that it sent. What a command printed stays as it is. One prefix before all paths keeps their byte order, so
 * cursors of lists go on working.
 */
export function fromLaneResult(result: WorkspaceToolResult, prefix: string): WorkspaceToolResult {
  switch (result.operation) {
    case 'read_file':
    case 'write_file':
    case 'edit_file':
    case 'preview_edit':
      return { ...result, path: prefix + result.path };
    case 'search_text':
      return {
        ...result,
        matches: result.matches.map((match) => ({ ...match, path: prefix + match.path })),
      };
    case 'list_files':
      return {
        ...result,
        paths: result.paths.map((path) => prefix + path),
        ...(result.nextAfterPath === undefined ? {} : { nextAfterPath: prefix + result.nextAfterPath }),
      };
    case 'execute_command':
      return result;
  }
}
