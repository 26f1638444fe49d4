import type { ToolCall, ToolResult } from '@codelanes/protocol';
import type { CallEnd } from './store.js';

/** How a call ends that is cancelled while its script waits for its tools. */
export const scriptStopped: CallEnd = {
  how: 'settled',
  cancelled: true,
  settlement: {
    status: 'rejected',
    error: {
      code: 'EXECUTION_ABORTED',
      message:
        'The script was stopped on request while it waited for its tools. What it had done before stays.',
    },
  },
};

/** Names the tool calls of a pause, or those that were answered, whatever their order. */
export function toolCallIds(of: readonly ToolCall[] | readonly ToolResult[]): string {
  return of
    .map((one) => ('callId' in one ? one.callId : one.id))
    .toSorted()
    .join(',');
}

/** Why a call is `interrupted` whose script waited for its tools. */
export const pausedScriptReasons = {
  tooLong: 'the script waited for its tools, and then for its lane, for longer than a script is kept',
  leftQueue: 'the script left the queue before it could go on with what its tools had come to',
  workerStartedAnew: 'the worker was started anew while the script waited for its tools',
  workerEndedIt: 'the worker ended the script while it waited for its tools',
} as const;
