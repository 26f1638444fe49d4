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
  fieldsOfLane,
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
export type {
  ProgrammaticCancelReply,
  ProgrammaticContinuation,
  ProgrammaticFile,
  ProgrammaticReply,
  ProgrammaticRequest,
} from './operations/programmatic.js';
export {
  programmaticCancelReplySchema,
  programmaticCancelSchema,
  programmaticContinuationSchema,
  programmaticReplySchema,
  programmaticRequestSchema,
} from './operations/programmatic.js';
export type {
  ResumeScriptRequest,
  RunScriptRequest,
  RunScriptResult,
  ToolCall,
  ToolResult,
} from './operations/run-script.js';
export {
  resumeScriptRequestOf,
  resumeScriptRequestSchema,
  runScriptRequestSchema,
  runScriptResultSchema,
  toolCallIdSchema,
  toolResultSchema,
} from './operations/run-script.js';
export { bashFunctionName, functionNamesFault } from './operations/function-names.js';
export type { ScriptFile } from './operations/script-files.js';
export { isHandedBack, scriptFilesSchema } from './operations/script-files.js';
export type { SetupRequest, SetupResult } from './operations/setup.js';
export { setupRequestOf, setupRequestSchema, setupResultSchema } from './operations/setup.js';
export type { CallOperation, CallRequest, CallResult } from './call.js';
export {
  callOperationSchema,
  callRequestSchema,
  callResultSchema,
  isWorkspaceToolRequest,
  isWorkspaceToolResult,
} from './call.js';
export type { OperationKind } from './operation-kinds.js';
export { isInstructionRead, modeOf, operationKinds } from './operation-kinds.js';
export type { Operation, WorkspaceToolRequest, WorkspaceToolResult } from './operations.js';
export { operationSchema, workspaceToolRequestSchema, workspaceToolResultSchema } from './operations.js';
export { resultFault } from './result-check.js';
export type {
  AdvertisedEnvironment,
  Capabilities,
  LaneRoutingMode,
  WorkspaceDescriptor,
  WorkspaceScope,
} from './capabilities.js';
export {
  capabilitiesSchema,
  findWorkspace,
  laneRoutingSchema,
  workspaceScopeSchema,
} from './capabilities.js';
export type { WorkspaceLanes } from './workspace-lanes.js';
export { lanesOfWorkspace } from './workspace-lanes.js';
export { withoutAlias } from './repository-alias.js';
export { assertActionAdvertised } from './environment-action.js';
export { assertAdvertised, assertLaneAdvertised, assertScriptAdvertised, requireWorkspace } from './gate.js';
export {
  callIdHeader,
  clientHeader,
  durableRequestHeader,
  expectedProfileHeader,
  profileHeader,
  programmaticRequestHeader,
  proofNonceHeader,
  proofSignatureHeader,
  proofTimeHeader,
  queueWaitHeader,
  repositoryHeader,
  requestIdHeader,
  traceparentHeader,
  workerIdHeader,
  workspaceIdHeader,
  worktreeHeader,
} from './headers.js';
export type { Proof, SignedRequest } from './proof.js';
export { credentialSchema, proofHeadersOf, proofOf, proofText } from './proof.js';
export type {
  Binding,
  IssuedCredential,
  PairingReply,
  PairingRequest,
  RedeemRequest,
  RevokeReply,
} from './pairing.js';
export {
  bindingSchema,
  issuedCredentialSchema,
  pairingCodeSchema,
  pairingReplySchema,
  pairingRequestSchema,
  redeemRequestSchema,
  refreshRequestSchema,
  revokeReplySchema,
} from './pairing.js';
export type { Trace } from './trace.js';
export { requestIdSchema, traceparentSchema } from './trace.js';
export { isLoopbackHost, isLoopbackUrl } from './loopback.js';
export { isUntrusted } from './untrusted-certificate.js';
export type { ClosedLane, RefusingLane } from './closed-lane.js';
export { closedLaneSchema, closedLanesSchema } from './closed-lane.js';
export type { ClientGeneration } from './generation.js';
export { capabilitiesFor, clientGenerationSchema, errorFor, generationOf, resultFor } from './generation.js';
export type { ShownCapabilities, ShownRepository, ShownWorkspace, WorkerStatus } from './worker-status.js';
export { findShownWorkspace, workerStatusSchema } from './worker-status.js';
export type { ErrorCode, ErrorKind, Fault, WireError } from './errors.js';
export { CodelanesError, errorCodeSchema, errorKinds, wireErrorSchema } from './errors.js';
export type {
  Assignment,
  HeldCall,
  Lease,
  Pause,
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
  pauseSchema,
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
