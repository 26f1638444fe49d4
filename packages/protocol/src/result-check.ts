import { limits } from './limits.js';
import type { CallResult } from './call.js';
import type { WorkspaceToolRequest } from './operations.js';
import type {
  EditFileRequest,
  EditFileResult,
  PreviewEditRequest,
  PreviewEditResult,
} from './operations/edit.js';
import { editsOf, reportsMatches } from './operations/edit.js';
import type { ExecuteCommandRequest, ExecuteCommandResult } from './operations/execute-command.js';
import type { ListFilesRequest, ListFilesResult } from './operations/list-files.js';
import type { ReadFileRequest, ReadFileResult } from './operations/read-file.js';
import type { SearchTextRequest, SearchTextResult } from './operations/search-text.js';
import type { WriteFileRequest, WriteFileResult } from './operations/write-file.js';
import { compareUtf8, isWellFormed, utf8Length } from './text.js';

const bomBytes = 3;

/**
 * Why a well-shaped result cannot be the answer to a request, as a sentence, or `undefined` where it can. The
 * rules are those that LibreChat's client holds every result to, and a few that only a worker can break. Worker
 * and bridge both ask before they pass a result on; of a lane's call both request and result are the lane's own,
 * before any path is put back under its prefix.
 */
export function resultFault(request: WorkspaceToolRequest, result: CallResult): string | undefined {
  if (result.operation === 'setup' || result.operation === 'run_script') return foreign(request, result);
  if (result.workspaceId !== request.workspaceId) {
    return `workspaceId is "${result.workspaceId}", but "${request.workspaceId}" was asked`;
  }
  switch (result.operation) {
    case 'read_file':
      return request.operation === result.operation ? readFault(request, result) : foreign(request, result);
    case 'search_text':
      return request.operation === result.operation ? searchFault(request, result) : foreign(request, result);
    case 'list_files':
      return request.operation === result.operation ? listFault(request, result) : foreign(request, result);
    case 'write_file':
      return request.operation === result.operation ? writeFault(request, result) : foreign(request, result);
    case 'edit_file':
      return request.operation === result.operation ? editFault(request, result) : foreign(request, result);
    case 'preview_edit':
      return request.operation === result.operation
        ? previewFault(request, result)
        : foreign(request, result);
    case 'execute_command':
      return request.operation === result.operation
        ? commandFault(request, result)
        : foreign(request, result);
  }
}

function foreign(request: WorkspaceToolRequest, result: CallResult): string {
  return `the result is of ${result.operation}, but ${request.operation} was asked`;
}

function pathEchoFault(
  request: { readonly path: string },
  result: { readonly path: string },
): string | undefined {
  return result.path === request.path
    ? undefined
    : `path is "${result.path}", but "${request.path}" was asked`;
}

function readFault(request: ReadFileRequest, result: ReadFileResult): string | undefined {
  const pathFault = pathEchoFault(request, result);
  if (pathFault !== undefined) return pathFault;
  return request.instructionSha256 === undefined ? linesFault(request, result) : instructionsFault(result);
}

function linesFault(request: ReadFileRequest, result: ReadFileResult): string | undefined {
  const startLine = request.startLine ?? 1;
  const maxLines = request.maxLines ?? limits.readFileDefaultLines;
  if (result.startLine !== startLine) {
    return `startLine is ${result.startLine}, but ${startLine} was asked`;
  }
  const told = result.endLine - startLine + 1;
  if (told < 0) return `endLine ${result.endLine} stands before startLine ${startLine}`;
  if (told > maxLines) return `${told} lines were told, but at most ${maxLines} were asked`;
  // No line and one empty line are the same content.
  const held = result.content === '' ? Math.min(told, 1) : result.content.split('\n').length;
  if (held !== told) {
    return `content holds ${held} lines, but endLine ${result.endLine} makes them ${told}`;
  }
  if (utf8Length(result.content) > limits.readFileBytes) {
    return `content has more than ${limits.readFileBytes} bytes`;
  }
  const next = result.truncated ? result.endLine + 1 : undefined;
  if (result.nextStartLine !== next) {
    return next === undefined
      ? 'nextStartLine stands in a result that is not truncated'
      : `nextStartLine must be ${next}, the line after endLine, in a truncated result`;
  }
  return undefined;
}

function instructionsFault(result: ReadFileResult): string | undefined {
  if (result.startLine !== 1) return 'startLine of instructions is 1';
  if (result.endLine !== result.content.split('\n').length) {
    return `endLine ${result.endLine} is not the number of lines of the instructions`;
  }
  if (utf8Length(result.content) > limits.instructionBytes) {
    return `instructions have more than ${limits.instructionBytes} bytes`;
  }
  return result.nextStartLine === undefined ? undefined : 'nextStartLine has no place beside instructions';
}

function searchFault(request: SearchTextRequest, result: SearchTextResult): string | undefined {
  const maxResults = request.maxResults ?? limits.searchDefaultResults;
  if (result.matches.length > maxResults) {
    return `${result.matches.length} matches were told, but at most ${maxResults} were asked`;
  }
  const outside = result.matches.find((match) => !liesWithin(match.path, request.path));
  if (outside !== undefined) return `the match in "${outside.path}" lies outside the path that was asked`;
  const without = result.matches.find((match) => !match.text.includes(request.query));
  if (without !== undefined) {
    return `the text of the match in "${without.path}" does not hold the query`;
  }
  return undefined;
}

function listFault(request: ListFilesRequest, result: ListFilesResult): string | undefined {
  const maxResults = request.maxResults ?? limits.listDefaultResults;
  if (result.paths.length > maxResults) {
    return `${result.paths.length} paths were told, but at most ${maxResults} were asked`;
  }
  let previous = request.afterPath;
  for (const path of result.paths) {
    if (!liesWithin(path, request.path)) return `"${path}" lies outside the path that was asked`;
    if (previous !== undefined && compareUtf8(path, previous) <= 0) {
      return `"${path}" does not stand after "${previous}" in byte order`;
    }
    previous = path;
  }
  const last = result.paths.at(-1);
  if (result.truncated && last === undefined) return 'a truncated list names at least one path';
  const next = result.truncated ? last : undefined;
  if (result.nextAfterPath !== next) {
    return next === undefined
      ? 'nextAfterPath stands in a list that is not truncated'
      : `nextAfterPath must be the last path, "${next}", in a truncated list`;
  }
  return undefined;
}

function writeFault(request: WriteFileRequest, result: WriteFileResult): string | undefined {
  const pathFault = pathEchoFault(request, result);
  if (pathFault !== undefined) return pathFault;
  const bytes = utf8Length(request.content);
  if (result.bytesWritten !== bytes) {
    return `bytesWritten is ${result.bytesWritten}, but the content has ${bytes} bytes`;
  }
  if (request.overwrite === false && !result.created) {
    return 'created is false, but nothing could be replaced';
  }
  return undefined;
}

function editFault(
  request: EditFileRequest | PreviewEditRequest,
  result: EditFileResult | PreviewEditResult,
): string | undefined {
  const pathFault = pathEchoFault(request, result);
  if (pathFault !== undefined) return pathFault;
  const edits = editsOf(request);
  if (result.replacements !== edits.length) {
    return `replacements is ${result.replacements}, but ${edits.length} edits were asked`;
  }
  if (result.bytesWritten > limits.writeFileBytes) {
    return `bytesWritten is more than ${limits.writeFileBytes}`;
  }
  return matchesFault(request, result);
}

function matchesFault(
  request: EditFileRequest | PreviewEditRequest,
  { matches }: EditFileResult | PreviewEditResult,
): string | undefined {
  if (!reportsMatches(request)) {
    return matches === undefined ? undefined : 'matches were told, but the request did not ask for them';
  }
  if (matches === undefined) return 'matches are missing, but the request named matching or replaceAll';
  const edits = editsOf(request);
  if (matches.length !== edits.length) {
    return `${matches.length} matches were told, but ${edits.length} edits were asked`;
  }
  for (const [index, { strategy, occurrences }] of matches.entries()) {
    if (strategy !== 'exact' && request.matching !== 'tolerant') {
      return `edit ${index + 1} was matched ${strategy}, but tolerance was not asked`;
    }
    if (occurrences !== 1 && edits[index]?.replaceAll !== true) {
      return `edit ${index + 1} replaced ${occurrences} occurrences, but replaceAll was not asked`;
    }
  }
  return undefined;
}

function previewFault(request: PreviewEditRequest, result: PreviewEditResult): string | undefined {
  const fault = editFault(request, result);
  if (fault !== undefined) return fault;
  if (!isWellFormed(result.content)) return 'content is not well-formed Unicode';
  const bytes = utf8Length(result.content) + (result.hasUtf8Bom ? bomBytes : 0);
  return result.bytesWritten === bytes
    ? undefined
    : `bytesWritten is ${result.bytesWritten}, but the previewed file has ${bytes} bytes`;
}

function commandFault(request: ExecuteCommandRequest, result: ExecuteCommandResult): string | undefined {
  if (!isWellFormed(result.stdout) || !isWellFormed(result.stderr)) {
    return 'the output is not well-formed Unicode';
  }
  const bytes = utf8Length(result.stdout) + utf8Length(result.stderr);
  const maxBytes = request.maxOutputBytes ?? limits.commandDefaultOutputBytes;
  if (bytes > maxBytes) return `the output has ${bytes} bytes, but at most ${maxBytes} were asked`;
  const stopped = result.timedOut || result.signal !== undefined;
  if ((result.exitCode === null) === stopped) return undefined;
  return stopped
    ? 'exitCode stands beside a time-out or a signal'
    : 'exitCode is null without a time-out or a signal';
}

/** Whether a path is the one that was asked or lies beneath it. */
function liesWithin(path: string, folder: string | undefined): boolean {
  return folder === undefined || path === folder || path.startsWith(`${folder}/`);
}
