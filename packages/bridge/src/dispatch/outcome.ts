import type { CallResult, CallState, WorkspaceToolResult } from '@codelanes/protocol';
import { CodelanesError, isWorkspaceToolResult, laneOf, resultFault } from '@codelanes/protocol';
import type { CallEnd } from '../scheduler/store.js';
import type { NewToolCall } from '../scheduler/stored-call.js';
import { QueueTimeout } from './queue-timeout.js';

/**
 * The result of a call of a tool that has ended.
 *
 * @throws CodelanesError `RESULT_INVALID` for a result that does not answer the request; as `settledResultOf`.
 */
export function resultOf(call: Pick<NewToolCall, 'request'>, end: CallEnd): WorkspaceToolResult {
  if (end.how === 'withdrawn' && end.waited !== undefined) {
    throw new QueueTimeout(laneOf(call.request), end.waited.waitedMs, end.waited.waitedFor);
  }
  const result = settledResultOf(end);
  const fault = resultFault(call.request, result);
  if (fault === undefined && isWorkspaceToolResult(result)) return result;
  throw resultInvalid(fault ?? `it is one of ${result.operation}`);
}

/**
 * What the worker says that a call came to.
 *
 * @throws CodelanesError for every other end: the worker's own refusal, `ASSIGNMENT_EXPIRED` where the outcome is
 * unknown, `CALL_CANCELLED` where it was taken back before it started.
 */
export function settledResultOf(end: CallEnd): CallResult {
  switch (end.how) {
    case 'settled':
      if (end.settlement.status === 'fulfilled') return end.settlement.result;
      throw new CodelanesError(end.settlement.error.code, end.settlement.error.message);
    case 'interrupted':
      throw outcomeUnknown(end.reason);
    case 'withdrawn':
      if (end.why === 'deadline') {
        throw new CodelanesError(
          'WORKSPACE_QUEUE_TIMEOUT',
          'The call left the queue at its deadline; it never ran.',
        );
      }
      throw new CodelanesError('CALL_CANCELLED', 'The call was taken back before it started; nothing ran.');
  }
}

export function resultInvalid(fault: string): CodelanesError {
  return new CodelanesError('RESULT_INVALID', `The worker's result does not answer the request: ${fault}.`);
}

/** The call started, or may have, and nobody can say how it ended. */
export function outcomeUnknown(reason: string): CodelanesError {
  return new CodelanesError('ASSIGNMENT_EXPIRED', `The outcome of the call is unknown: ${reason}`);
}

export function callerGone(): CodelanesError {
  return new CodelanesError('CALL_CANCELLED', 'The caller went away before the call ended.');
}

/** Whether a call has ended, however. */
export function isOver(state: CallState): boolean {
  return state === 'settled' || state === 'withdrawn' || state === 'interrupted';
}
