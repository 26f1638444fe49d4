import type {
  CallRequest,
  Lane,
  Mode,
  Pool,
  ResumeScriptRequest,
  RunScriptRequest,
  SetupRequest,
  Trace,
  WorkspaceToolRequest,
} from '@codelanes/protocol';

/** A call as a store keeps it, whoever asked for it. */
interface AnyCall {
  readonly callId: string;
  readonly workerId: string;
  readonly lane: Lane;
  readonly mode: Mode;
  /** `none`: no lane and no pool; it starts at once. */
  readonly pool: Pool | 'none';
  readonly principal: string;
  /** Digest of the canonical body: what makes a retry identical. */
  readonly fingerprint: string;
  readonly executionMs: number;
  readonly request: CallRequest;
  /** Goes to the worker with the call, for its log. */
  readonly trace?: Trace | undefined;
  /** What its caller sees before every path of the result; the worker knows nothing of it. */
  readonly pathPrefix?: string | undefined;
}

/** What a caller asks for. */
export interface NewCall extends AnyCall {
  readonly request: WorkspaceToolRequest | RunScriptRequest;
  /** Left out where nothing that may have changed was relied upon. */
  readonly grounds?: Grounds | undefined;
}

/** What a call was let in by, as it was seen at some time before. */
export interface Grounds {
  /** Which capabilities were looked at. */
  readonly capabilitiesId: string;
  /** The record of the worker's pairing, where such records are kept beside the calls; empty for none. */
  readonly pairing: string;
}

/** A call of a workspace tool, which is never paused. */
export interface NewToolCall extends NewCall {
  readonly request: WorkspaceToolRequest;
}

/** A script that goes on with what its tools came to. */
export interface ResumedCall extends AnyCall {
  readonly request: ResumeScriptRequest;
}

/** What the store asks for by itself, after a report of the worker. */
export interface SystemCall extends AnyCall {
  readonly request: SetupRequest;
  /** How long it may run, as people are told. */
  readonly boundMs: number;
}

export type StoredCall = NewCall | ResumedCall | SystemCall;
