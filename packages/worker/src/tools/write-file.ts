import type { WriteFileRequest, WriteFileResult } from '@codelanes/protocol';
import { temporaryName, writeAtomically } from '../files/write.js';
import { resolvedPath } from './resolved-path.js';
import type { ToolContext } from './tool-context.js';

/**
 * Writes a whole file atomically and makes missing directories. With `overwrite: false` a file that exists, or
 * appears in the same moment, is refused and stays as it is.
 */
export async function runWriteFile(
  context: ToolContext,
  request: WriteFileRequest,
): Promise<WriteFileResult> {
  const { protocolVersion, operation, workspaceId, path } = request;
  const bytes = Buffer.from(request.content);
  const target = resolvedPath(context.directory, path);
  const temporary = temporaryName();
  context.signal.throwIfAborted();
  await context.beforeWrite({ path: target, temporary });
  const { created } = await writeAtomically(context.directory, target, bytes, {
    create: request.overwrite === false ? 'create' : 'either',
    createParents: true,
    temporaryName: temporary,
  });
  return { protocolVersion, operation, workspaceId, path, created, bytesWritten: bytes.length };
}
