import { z } from 'zod';
import {
  operationSchema,
  workspaceToolRequestSchema,
  workspaceToolResultSchema,
  type WorkspaceToolRequest,
  type WorkspaceToolResult,
} from './operations.js';
import {
  resumeScriptRequestSchema,
  runScriptRequestSchema,
  runScriptResultSchema,
} from './operations/run-script.js';
import { setupRequestSchema, setupResultSchema } from './operations/setup.js';

/** All that a worker can be asked to do: what callers ask for, and what the system does for them. */
export const callRequestSchema = z.discriminatedUnion('operation', [
  ...workspaceToolRequestSchema.options,
  setupRequestSchema,
  runScriptRequestSchema,
  resumeScriptRequestSchema,
]);
export type CallRequest = z.infer<typeof callRequestSchema>;

/** What a worker settles a call with. */
export const callResultSchema = z.discriminatedUnion('operation', [
  ...workspaceToolResultSchema.options,
  setupResultSchema,
  runScriptResultSchema,
]);
export type CallResult = z.infer<typeof callResultSchema>;

/** Names what a call does, whoever asked for it. */
export const callOperationSchema = z.enum([
  ...operationSchema.options,
  'setup',
  'run_script',
  'resume_script',
]);
export type CallOperation = z.infer<typeof callOperationSchema>;

const workspaceToolOperations: ReadonlySet<string> = new Set(operationSchema.options);

/** Whether a call is one that a caller asked for as a workspace tool. */
export function isWorkspaceToolRequest(request: CallRequest): request is WorkspaceToolRequest {
  return workspaceToolOperations.has(request.operation);
}

export function isWorkspaceToolResult(result: CallResult): result is WorkspaceToolResult {
  return workspaceToolOperations.has(result.operation);
}
