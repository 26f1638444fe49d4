import type { Capabilities, Trace, WorkspaceToolRequest } from '@codelanes/protocol';
import { isInstructionRead, laneOf, limits, modeOf, operationKinds, withoutAlias } from '@codelanes/protocol';
import { randomBytes } from 'node:crypto';
import type { NewCall } from '../scheduler/store.js';
import { fingerprintOf } from './fingerprint.js';

/** Time that an operation other than a command may run. */
const fileToolExecutionMs = 30_000;

export interface CallTerms {
  readonly workerId: string;
  readonly principal: string;
  readonly capabilities: Capabilities;
  /** Proposed by the caller; made here where it proposes none. */
  readonly callId?: string | undefined;
  readonly trace?: Trace | undefined;
}

/** What the store needs to know of a request that passed the gate. */
export function newCallOf(request: WorkspaceToolRequest, terms: CallTerms): NewCall {
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
  };
}

/** The time a request may run from its start; waiting in the queue has a budget of its own. */
export function executionMsOf(request: WorkspaceToolRequest): number {
  if (request.operation !== 'execute_command') return fileToolExecutionMs;
  return request.timeoutMs ?? limits.commandDefaultTimeoutMs;
}
