export { limits } from './limits.js';
export { compareUtf8, isWellFormed, utf8Length } from './text.js';
export {
  callIdSchema,
  incarnationIdSchema,
  journalIdSchema,
  leaseTokenSchema,
  pathFault,
  relativePathSchema,
  repositoryPathSchema,
  sha256Schema,
  workerIdSchema,
  workspaceIdSchema,
  workspaceInstanceIdSchema,
  worktreeNameSchema,
} from './identifiers.js';
export type { Claim, Lane, LaneFields, Mode, Pool, RepositorySegment, WorktreeSegment } from './lane.js';
export {
  callsConflict,
  describeLane,
  laneKey,
  laneKeysFromRoot,
  laneOf,
  laneSchema,
  lanesOverlap,
} from './lane.js';
export { protocolVersion } from './operations/envelope.js';
export type { ReadFileRequest, ReadFileResult } from './operations/read-file.js';
export type { SearchTextRequest, SearchTextResult } from './operations/search-text.js';
export type { ListFilesRequest, ListFilesResult } from './operations/list-files.js';
export type { WriteFileRequest, WriteFileResult } from './operations/write-file.js';
export type {
  Edit,
  EditFileRequest,
  EditFileResult,
  EditStrategy,
  PreviewEditRequest,
  PreviewEditResult,
} from './operations/edit.js';
export { editsOf, reportsMatches } from './operations/edit.js';
export type { ExecuteCommandRequest, ExecuteCommandResult } from './operations/execute-command.js';
export type { ProgrammaticRequest } from './operations/programmatic.js';
export { programmaticRequestSchema } from './operations/programmatic.js';
export type { Operation, OperationKind, WorkspaceToolRequest, WorkspaceToolResult } from './operations.js';
export {
  isInstructionRead,
  modeOf,
  operationKinds,
  operationSchema,
  workspaceToolRequestSchema,
  workspaceToolResultSchema,
} from './operations.js';
export { resultFault } from './result-check.js';
export type { Capabilities, WorkspaceDescriptor, WorkspaceScope } from './capabilities.js';
export { capabilitiesSchema, findWorkspace, workspaceScopeSchema } from './capabilities.js';
export { withoutAlias } from './repository-alias.js';
export { assertAdvertised, assertLaneAdvertised, requireWorkspace } from './gate.js';
export {
  callIdHeader,
  clientHeader,
  durableRequestHeader,
  queueWaitHeader,
  requestIdHeader,
  traceparentHeader,
  workerIdHeader,
} from './headers.js';
export type { Trace } from './trace.js';
export { requestIdSchema, traceparentSchema } from './trace.js';
export { isLoopbackHost, isLoopbackUrl } from './loopback.js';
export type { QuarantinedLane } from './quarantined-lane.js';
export { quarantinedLaneSchema, quarantinedLanesSchema } from './quarantined-lane.js';
export type { ClientGeneration } from './generation.js';
export {
  capabilitiesFor,
  clientGenerationSchema,
  errorFor,
  generationOf,
  resultFor,
  workerStatusSchema,
} from './generation.js';
export type { ErrorCode, ErrorKind, Fault, WireError } from './errors.js';
export { CodelanesError, errorCodeSchema, errorKinds, wireErrorSchema } from './errors.js';
export type {
  Assignment,
  HeldCall,
  Lease,
  PollReply,
  PollRequest,
  RegisterReply,
  RegisterRequest,
  RenewReply,
  RenewRequest,
  Report,
  ReportReply,
  ReportRequest,
  SettleReply,
  SettleRequest,
  Settlement,
} from './wire.js';
export {
  assignmentSchema,
  pollReplySchema,
  pollStreamType,
  pollRequestSchema,
  registerReplySchema,
  registerRequestSchema,
  renewReplySchema,
  renewRequestSchema,
  reportReplySchema,
  reportRequestSchema,
  settleReplySchema,
  settleRequestSchema,
  settlementSchema,
  workerWireVersion,
} from './wire.js';
export type { Blocker, CallState, CallView, CancelReply, LanesView, WaitingReason } from './views.js';
export { callStateSchema, callViewSchema, cancelReplySchema, lanesViewSchema } from './views.js';
export type { DurableCapabilities, DurableState, DurableStatus } from './durable-requests.js';
export {
  durableCapabilitiesSchema,
  durableRequestIdSchema,
  durableStateSchema,
  durableStatusSchema,
} from './durable-requests.js';
