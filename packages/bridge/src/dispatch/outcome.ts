import type { WorkspaceToolResult } from '@codelanes/protocol';
import { CodelanesError, resultFault } from '@codelanes/protocol';
import type { CallEnd, NewCall } from '../scheduler/store.js';

/**
 * The result of a call that has ended.
 *
 * @throws CodelanesError for every other end: the worker's own refusal, `RESULT_INVALID` for a result that
 * does not answer the request, `ASSIGNMENT_EXPIRED` where the outcome is unknown, `CALL_CANCELLED` where it
 * was taken back before it started.
 */
export function resultOf(call: Pick<NewCall, 'request'>, end: CallEnd): WorkspaceToolResult {
  switch (end.how) {
    case 'settled': {
      if (end.settlement.status === 'rejected') {
        throw new CodelanesError(end.settlement.error.code, end.settlement.error.message);
      }
      const fault = resultFault(call.request, end.settlement.result);
      if (fault === undefined) return end.settlement.result;
      throw new CodelanesError(
        'RESULT_INVALID',
        `The worker's result does not answer the request: ${fault}.`,
      );
    }
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

/** The call started, or may have, and nobody can say how it ended. */
export function outcomeUnknown(reason: string): CodelanesError {
  return new CodelanesError('ASSIGNMENT_EXPIRED', `The outcome of the call is unknown: ${reason}`);
}
