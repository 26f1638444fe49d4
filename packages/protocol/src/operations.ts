import { z } from 'zod';
import type { Mode, Pool } from './lane.js';
import {
  editFileRequestSchema,
  editFileResultSchema,
  previewEditRequestSchema,
  previewEditResultSchema,
} from './operations/edit.js';
import { executeCommandRequestSchema, executeCommandResultSchema } from './operations/execute-command.js';
import { listFilesRequestSchema, listFilesResultSchema } from './operations/list-files.js';
import { readFileRequestSchema, readFileResultSchema } from './operations/read-file.js';
import { searchTextRequestSchema, searchTextResultSchema } from './operations/search-text.js';
import { writeFileRequestSchema, writeFileResultSchema } from './operations/write-file.js';

export const workspaceToolRequestSchema = z.discriminatedUnion('operation', [
  readFileRequestSchema,
  searchTextRequestSchema,
  listFilesRequestSchema,
  writeFileRequestSchema,
  previewEditRequestSchema,
  editFileRequestSchema,
  executeCommandRequestSchema,
]);
export type WorkspaceToolRequest = z.infer<typeof workspaceToolRequestSchema>;

export const workspaceToolResultSchema = z.discriminatedUnion('operation', [
  readFileResultSchema,
  searchTextResultSchema,
  listFilesResultSchema,
  writeFileResultSchema,
  previewEditResultSchema,
  editFileResultSchema,
  executeCommandResultSchema,
]);
export type WorkspaceToolResult = z.infer<typeof workspaceToolResultSchema>;

export type Operation = WorkspaceToolRequest['operation'];
export const operationSchema = z.enum([
  'read_file',
  'search_text',
  'list_files',
  'write_file',
  'preview_edit',
  'edit_file',
  'execute_command',
]);

export interface OperationKind {
  /** `shared` only where the worker advertises shared reads; else such a call is exclusive too. */
  readonly mode: Mode;
  readonly pool: Pool;
}

/** Mode and pool of every operation: the one table that bridge and worker both use, never the wire. */
export const operationKinds: Readonly<Record<Operation, OperationKind>> = {
  read_file: { mode: 'shared', pool: 'file' },
  search_text: { mode: 'shared', pool: 'file' },
  list_files: { mode: 'shared', pool: 'file' },
  preview_edit: { mode: 'shared', pool: 'file' },
  write_file: { mode: 'exclusive', pool: 'file' },
  edit_file: { mode: 'exclusive', pool: 'file' },
  execute_command: { mode: 'exclusive', pool: 'command' },
};

/** Whether a request is a digest-fenced read of repository instructions, which takes no lane and no pool. */
export function isInstructionRead(request: WorkspaceToolRequest): boolean {
  return request.operation === 'read_file' && request.instructionSha256 !== undefined;
}

/** Mode of one request at a worker that does or does not advertise shared reads. */
export function modeOf(operation: Operation, sharedReads: boolean): Mode {
  return sharedReads ? operationKinds[operation].mode : 'exclusive';
}
