import type { WorkspaceToolRequest } from '@codelanes/protocol';
import { jsonObject } from '../client/json-object.js';
import type { WorkspaceToolHttpError } from '../client/workspace-tool-http-error.js';

/** Why a call has no result, as a sentence for the model, which is told what to do next wherever that is known. */
export function renderError(request: WorkspaceToolRequest, error: WorkspaceToolHttpError): string {
  const fields = jsonObject(error.upstreamBody ?? '') ?? {};
  const [code, sentence, next] = ['code', 'error', 'next'].map((key) => {
    const field = fields[key];
    return typeof field === 'string' ? field : undefined;
  });
  if (alreadyExists(request, error, code)) {
    return `workspace/${pathOf(request)} already exists, and was not changed. Read it, then edit it or send it with overwrite.`;
  }
  if (error.editConflict !== undefined) {
    return `The edit does not fit the file, and nothing was changed: ${error.editConflict}`;
  }
  if (error.reason !== 'rejected' || sentence === undefined || sentence === 'rate_limited')
    return error.message;
  return [sentence, ...(next === undefined ? [] : [next])].join(' ');
}

/** Of the refusals with this status only one has to do with what is there. */
function alreadyExists(request: WorkspaceToolRequest, error: WorkspaceToolHttpError, code?: string): boolean {
  const creates = request.operation === 'write_file' && request.overwrite === false;
  return creates && error.upstreamStatus === 409 && (code === undefined || code === 'EDIT_CONFLICT');
}

function pathOf(request: WorkspaceToolRequest): string {
  return 'path' in request ? (request.path ?? '') : '';
}
