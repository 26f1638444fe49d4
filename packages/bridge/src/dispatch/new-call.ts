import type { Capabilities, RunScriptRequest, Trace, WorkspaceToolRequest } from '@codelanes/protocol';
import { isInstructionRead, laneOf, limits, modeOf, operationKinds, withoutAlias } from '@codelanes/protocol';
import { randomBytes } from 'node:crypto';
import { ownInstanceId } from './own-instance.js';
import type { Grounds, NewCall } from '../scheduler/stored-call.js';
import { fingerprintOf } from './fingerprint.js';

/** Time that an operation other than a command may run. */
const fileToolExecutionMs = 30_000;

export interface CallTerms {
  readonly workerId: string;
  readonly principal: string;
  readonly capabilities: Capabilities;
  /** Of a worker that was seen some time before its call is entered. */
  readonly grounds?: Grounds | undefined;
  /** Proposed by the caller; made here where it proposes none. */
  readonly callId?: string | undefined;
  readonly trace?: Trace | undefined;
  /** Of a call whose lane was found by its path. */
  readonly pathPrefix?: string | undefined;
}

/** What the store needs to know of a request that passed the gate. */
export function newCallOf<R extends WorkspaceToolRequest | RunScriptRequest>(
  asked: R,
  terms: CallTerms,
): NewCall & { readonly request: R } {
  const request = withOwnInstance(asked, terms.principal);
  return {
    callId: terms.callId ?? randomBytes(16).toString('hex'),
    workerId: terms.workerId,
    lane: laneOf(withoutAlias(terms.capabilities, request)),
    mode: modeOf(request.operation, terms.capabilities.sharedReads),
    pool: isInstructionRead(request) ? 'none' : operationKinds[request.operation].pool,
    principal: terms.principal,
    fingerprint: fingerprintOf(request),
    executionMs: executionMsOf(request),
    request,
    trace: terms.trace,
    pathPrefix: terms.pathPrefix,
    grounds: terms.grounds,
  };
}

function withOwnInstance<R extends WorkspaceToolRequest | RunScriptRequest>(
  request: R,
  principal: string,
): R {
  const { workspaceInstanceId: asked } = request;
  return asked === undefined ? request : { ...request, workspaceInstanceId: ownInstanceId(principal, asked) };
}

/** The time a request may run from its start; waiting in the queue has a budget of its own. */
export function executionMsOf(request: WorkspaceToolRequest | RunScriptRequest): number {
  const runsCommands = request.operation === 'execute_command' || request.operation === 'run_script';
  if (!runsCommands) return fileToolExecutionMs;
  if (request.timeoutMs !== undefined) return request.timeoutMs;
  if (request.operation === 'run_script') return limits.commandDefaultTimeoutMs;
  // An action has a time of its own, which only the worker knows.
  return request.environmentAction === undefined ? limits.commandDefaultTimeoutMs : limits.commandTimeoutMs;
}
