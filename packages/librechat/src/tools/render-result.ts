import { limits } from '@codelanes/protocol';
import type {
  EditFileResult,
  ExecuteCommandRequest,
  ExecuteCommandResult,
  ListFilesResult,
  PreviewEditResult,
  ReadFileResult,
  SearchTextResult,
  WorkspaceToolRequest,
  WorkspaceToolResult,
  WriteFileResult,
} from '@codelanes/protocol';

/**
 * A result as models of LibreChat read it. `request` is what the model asked for, before it was routed into a lane, and
 * the result has the paths of that. Paths are shown with `workspace/` before them; the cursor of a list is not, as it
 * is sent back without.
 */
export function renderResult(request: WorkspaceToolRequest, result: WorkspaceToolResult): string {
  switch (result.operation) {
    case 'read_file':
      return renderRead(result);
    case 'search_text':
      return renderSearch(result);
    case 'list_files':
      return renderList(result);
    case 'write_file':
      return renderWrite(result);
    case 'preview_edit':
    case 'edit_file':
      return renderEdit(result);
    case 'execute_command':
      return renderCommand(request.operation === 'execute_command' ? request : undefined, result);
  }
}

function shown(path: string): string {
  return `workspace/${path}`;
}

function renderRead({ path, content, startLine, nextStartLine, truncated }: ReadFileResult): string {
  if (content === '' && !truncated) return `${shown(path)} has no lines from line ${startLine} on.`;
  const numbered = content.split('\n').map((line, index) => `${startLine + index} | ${line}`);
  const more =
    nextStartLine === undefined
      ? []
      : ['', `[there is more: read_file with path "${shown(path)}" and start_line ${nextStartLine}]`];
  return [...numbered, ...more].join('\n');
}

function renderSearch({ matches, truncated }: SearchTextResult): string {
  if (matches.length === 0) return 'Nothing was found.';
  const lines = matches.map(({ path, line, column, text }) => `${shown(path)}:${line}:${column}: ${text}`);
  return [
    ...lines,
    ...(truncated ? ['[there are more matches: search a folder, or a longer text]'] : []),
  ].join('\n');
}

function renderList({ paths, nextAfterPath }: ListFilesResult): string {
  if (paths.length === 0) return 'There are no files.';
  const more =
    nextAfterPath === undefined ? [] : [`[there are more: list again with after_path "${nextAfterPath}"]`];
  return [...paths.map(shown), ...more].join('\n');
}

function renderWrite({ path, created, bytesWritten }: WriteFileResult): string {
  return `${created ? 'Created' : 'Replaced'} ${shown(path)} (${bytesWritten} bytes).`;
}

function renderEdit({ operation, path, replacements, matches }: EditFileResult | PreviewEditResult): string {
  const verb = operation === 'edit_file' ? 'Edited' : 'Would edit';
  const places = matches?.reduce((sum, { occurrences }) => sum + occurrences, 0) ?? replacements;
  return `${verb} ${shown(path)}: ${replacements} edits in ${places} places.`;
}

/**
 * The blocks of LibreChat's own bash tool: where the command began, what it wrote, how it ended. A status that is not
 * 0 is a result like any other.
 */
export function renderCommand(
  request: Pick<ExecuteCommandRequest, 'command' | 'cwd' | 'timeoutMs'> | undefined,
  { stdout, stderr, exitCode, signal, timedOut, truncated }: ExecuteCommandResult,
): string {
  const { command = '', cwd = '', timeoutMs = limits.commandDefaultTimeoutMs } = request ?? {};
  const output = [
    ...(stdout === '' ? [] : [`stdout:\n${stdout}\n`]),
    ...(stderr === '' ? [] : [`stderr:\n${stderr}\n`]),
  ];
  const ends = [
    ...(exitCode === null ? [] : [`[exit code: ${exitCode}]`]),
    ...(signal === undefined ? [] : [`[terminated by ${signal}]`]),
    ...(timedOut ? ['[timed out]'] : []),
    ...(truncated ? ['[output truncated]'] : []),
  ];
  return [
    `[starting directory: ${JSON.stringify(shown(cwd))}]\n`,
    ...(output.length === 0 ? ['The command wrote nothing.\n'] : output),
    ends.join(''),
    ...(timedOut
      ? [
          `\nThe command was stopped after ${timeoutMs} ms. See what it did before you repeat it, with more time.`,
        ]
      : []),
    ...(/^\s*cd(?:\s|$)/.test(command)
      ? ['\n[hint: to work in a folder pass it as cwd. A "cd" in the command selects no worktree lane.]']
      : []),
  ].join('');
}
