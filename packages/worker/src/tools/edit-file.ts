import { CodelanesError, type EditFileRequest, type EditFileResult } from '@codelanes/protocol';
import { temporaryName, writeAtomically } from '../files/write.js';
import { editBase, readBase } from './edited-file.js';
import type { ToolContext } from './tool-context.js';

/**
 * Edits a text file atomically. What was read is compared with what is there when the new file takes its place:
 * a change in between is refused, not lost.
 */
export async function runEditFile(context: ToolContext, request: EditFileRequest): Promise<EditFileResult> {
  const { protocolVersion, operation, workspaceId, path, expectedBaseSha256 } = request;
  const base = await readBase(context.directory, path);
  if (expectedBaseSha256 !== undefined && base.sha256 !== expectedBaseSha256) {
    throw new CodelanesError(
      'EDIT_CONFLICT',
      `"${path}" is not the file that was previewed any more: preview the edit again.`,
    );
  }
  const { bytes, told } = editBase(base, request);
  const temporary = temporaryName();
  context.signal.throwIfAborted();
  await context.beforeWrite({ path: base.path, temporary });
  await writeAtomically(context.directory, base.path, bytes, {
    create: 'replace',
    expected: base.version,
    temporaryName: temporary,
  });
  return { protocolVersion, operation, workspaceId, path, ...told };
}
