import type { PreviewEditRequest, PreviewEditResult } from '@codelanes/protocol';
import { editBase, readBase } from './edited-file.js';
import type { ToolContext } from './tool-context.js';

/** Tells what `edit_file` would make of a file, and the digest by which the edit can be fenced. Writes nothing. */
export async function runPreviewEdit(
  context: ToolContext,
  request: PreviewEditRequest,
): Promise<PreviewEditResult> {
  const { protocolVersion, operation, workspaceId, path } = request;
  const base = await readBase(context.directory, path);
  context.signal.throwIfAborted();
  const { text, told } = editBase(base, request);
  return {
    protocolVersion,
    operation,
    workspaceId,
    path,
    content: text,
    hasUtf8Bom: base.hasBom,
    baseSha256: base.sha256,
    ...told,
  };
}
