export type { WorkerStatus, WorkspaceToolRequest, WorkspaceToolResult } from '@codelanes/protocol';
export type { AdvertisedLanes } from './routing/lane-locator.js';
export type { RoutableRequest, Routing, UnroutedReason } from './routing/to-lane-request.js';
export { toLaneRequest } from './routing/to-lane-request.js';
export type { LenientRouting, RefusedPath } from './routing/lenient-routing.js';
export { toLaneRequestLeniently } from './routing/lenient-routing.js';
export { unroutedText } from './routing/unrouted-text.js';
export { fromLaneResult } from './routing/from-lane-result.js';
export type { SelectionErrorReason, WorkspaceSelection } from './workspace/selection.js';
export { selectionOf, WorkspaceSelectionError } from './workspace/selection.js';
export { conversationInstanceId } from './workspace/conversation-instance.js';
export type { LaneRouting, ResolvedWorkspace, ResolveOptions } from './workspace/resolve-workspace.js';
export { advertisedLanes, resolveWorkspace } from './workspace/resolve-workspace.js';
export type { FetchWorkerStatusOptions } from './workspace/fetch-worker-status.js';
export { fetchWorkerStatus, WorkerStatusError } from './workspace/fetch-worker-status.js';
export type {
  ExecuteWorkspaceToolOptions,
  WorkspaceToolAuthHeaders,
} from './client/execute-workspace-tool.js';
export { executeWorkspaceTool } from './client/execute-workspace-tool.js';
export type { HttpFetch, HttpReply, HttpRequest } from './client/http-fetch.js';
export type { WorkspaceToolFailure } from './client/workspace-tool-http-error.js';
export { WorkspaceToolHttpError } from './client/workspace-tool-http-error.js';
export type { BoundLane, SdkToolOptions } from './sdk/lane-tool-options.js';
export { laneBaseUrl, laneToolOptions } from './sdk/lane-tool-options.js';
export type { SdkTool } from './sdk/lane-tool.js';
export { createBoundTool, createLaneTool, withoutLeakedArguments } from './sdk/lane-tool.js';
export type { ToolDefinition, WorkspaceToolName } from './tools/definitions.js';
export { workspaceToolDefinitions, workspaceToolNames } from './tools/definitions.js';
export type { ToolCallRequest } from './tools/tool-call.js';
export { requestOfToolCall } from './tools/tool-call.js';
export { renderResult } from './tools/render-result.js';
export { renderError } from './tools/render-error.js';
export type { ToolOutput, ToolTransport } from './tools/run-tool-call.js';
export { runToolCall } from './tools/run-tool-call.js';
