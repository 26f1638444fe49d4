import { executeWorkspaceTool, type ExecuteWorkspaceToolOptions } from '../client/execute-workspace-tool.js';
import { WorkspaceToolHttpError } from '../client/workspace-tool-http-error.js';
import type { ResolvedWorkspace } from '../workspace/resolve-workspace.js';
import type { WorkspaceToolName } from './definitions.js';
import { renderError } from './render-error.js';
import { renderResult } from './render-result.js';
import { requestOfToolCall } from './tool-call.js';

export interface ToolOutput {
  /** What the model reads. */
  readonly content: string;
  readonly isError: boolean;
}

/** How to reach the bridge; the request and its lane are the tool call's. */
export type ToolTransport = Omit<ExecuteWorkspaceToolOptions, 'request' | 'lanes' | 'linkedWorktrees'>;

/**
 * A model's tool call from its arguments to what the model reads, in the lane that its path lies in. Only an abort by
 * the caller is thrown; every other failure is an output.
 */
export async function runToolCall(
  tool: WorkspaceToolName,
  args: unknown,
  workspace: ResolvedWorkspace,
  transport: ToolTransport,
): Promise<ToolOutput> {
  const call = requestOfToolCall(tool, args, workspace);
  if ('fault' in call) return { content: call.fault, isError: true };
  const { request } = call;
  const lanes = workspace.routing.kind === 'lanes' ? workspace.routing.lanes : undefined;
  try {
    const result = await executeWorkspaceTool({ ...transport, request, lanes });
    return { content: renderResult(request, result), isError: false };
  } catch (error) {
    if (!(error instanceof WorkspaceToolHttpError)) throw error;
    return { content: renderError(request, error), isError: true };
  }
}
