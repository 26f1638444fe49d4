import { z } from 'zod';
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
