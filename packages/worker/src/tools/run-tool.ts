import {
  CodelanesError,
  resultFault,
  type CallRequest,
  type WorkspaceToolRequest,
  type WorkspaceToolResult,
} from '@codelanes/protocol';
import { runEditFile } from './edit-file.js';
import { refuseGitPath } from './git-guard.js';
import { runListFiles } from './list-files.js';
import { runPreviewEdit } from './preview-edit.js';
import { runReadFile } from './read-file.js';
import { runSearchText } from './search-text.js';
import type { ToolContext } from './tool-context.js';
import { isFileOperation, toolError, type FileOperation } from './tool-errors.js';
import { runWriteFile } from './write-file.js';

export type FileToolRequest = Extract<WorkspaceToolRequest, { operation: FileOperation }>;
export type FileToolResult = Extract<WorkspaceToolResult, { operation: FileOperation }>;

export function isFileToolRequest(request: CallRequest): request is FileToolRequest {
  return isFileOperation(request.operation);
}

/**
 * Runs one file tool in its lane. Commands are run elsewhere. After a rejection the file is as it was before or,
 * where the disk failed after the very last step of a write, as it was asked to be; never anything between.
 *
 * @throws CodelanesError with a code of the table; `RESULT_INVALID` where the result would break the protocol.
 */
export async function runTool(context: ToolContext, request: FileToolRequest): Promise<FileToolResult> {
  let result: FileToolResult;
  try {
    context.signal.throwIfAborted();
    if (request.path !== undefined) refuseGitPath(request.path);
    result = await dispatch(context, request);
  } catch (error) {
    throw toolError(error, { operation: request.operation, lane: context.lane, signal: context.signal });
  }
  const fault = resultFault(request, result);
  if (fault !== undefined) {
    throw new CodelanesError('RESULT_INVALID', `The result of ${request.operation} is wrong: ${fault}.`);
  }
  return result;
}

function dispatch(context: ToolContext, request: FileToolRequest): Promise<FileToolResult> {
  switch (request.operation) {
    case 'read_file':
      return runReadFile(context, request);
    case 'search_text':
      return runSearchText(context, request);
    case 'list_files':
      return runListFiles(context, request);
    case 'write_file':
      return runWriteFile(context, request);
    case 'preview_edit':
      return runPreviewEdit(context, request);
    case 'edit_file':
      return runEditFile(context, request);
  }
}
