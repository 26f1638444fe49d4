import type { CallState, ErrorCode } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import { NoAnswer, Refusal } from '../client/failures.js';
import { LostCall } from '../client/run-call.js';
import { errorLines } from '../errors/print-error.js';
import { exitStatus } from '../errors/cli-error.js';
import { waitingText } from './waiting-text.js';

export interface FailedCall {
  readonly status: number;
  readonly what: string;
  readonly next: string;
}

/** What is known of a call that brought no result: whether anything ran above all. */
export function failedCall(error: unknown): FailedCall {
  if (error instanceof LostCall) return lostCall(error);
  const [what, next] = errorLines(error);
  if (error instanceof NoAnswer) {
    return { status: exitStatus.nothingRan, what: `${what} Nothing ran.`, next };
  }
  if (!CodelanesError.is(error)) return { status: exitStatus.nothingRan, what, next };
  const status = statusByCode[error.code] ?? exitStatus.nothingRan;
  return { status, what: withReason(error, what), next };
}

const lastSeenTexts: Readonly<Record<CallState, string>> = {
  waiting: 'When last seen the call was waiting, so it most likely never started.',
  reserved: 'When last seen the call was about to start.',
  delivered: 'When last seen the worker had the call and was about to start it.',
  running: 'The command was running; its worker stops it.',
  paused: 'When last seen the script was paused, for an answer of its caller.',
  cancelling: 'The command was being stopped.',
  settled: 'The command had ended, but its result was lost on the way.',
  withdrawn: 'The call had been taken back; nothing ran.',
  interrupted: 'The call had been interrupted.',
};

function lostCall({ message, lastSeen }: LostCall): FailedCall {
  const known =
    lastSeen === undefined ? 'Whether the call ever started is not known.' : lastSeenTexts[lastSeen.state];
  return {
    status: exitStatus.outcomeUnknown,
    what: `${message} ${known} The outcome is unknown.`,
    next: 'It is not run again by itself: look at the lane ("codelanes lanes", "git status") before you do.',
  };
}

/** The reason in the words in which it was told while the call waited, in place of the bridge's for programs. */
function withReason(error: CodelanesError, what: string): string {
  return error instanceof Refusal && error.waitedFor !== undefined
    ? `The call did not start in time: it waited ${waitingText(error.waitedFor)}. (${error.code})`
    : what;
}

/** Codes that do not prove that nothing ran; every other one does. */
const statusByCode: Readonly<Partial<Record<ErrorCode, number>>> = {
  ASSIGNMENT_EXPIRED: exitStatus.outcomeUnknown,
  RESULT_INVALID: exitStatus.outcomeUnknown,
  INTERNAL_FAULT: exitStatus.outcomeUnknown,
  CALL_CANCELLED: exitStatus.cancelled,
  EXECUTION_ABORTED: exitStatus.cancelled,
  COMMAND_TIMEOUT: exitStatus.timedOut,
};
