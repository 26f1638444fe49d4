import type { ClientGeneration, CodelanesError, ErrorCode, WaitingReason } from '@codelanes/protocol';
import { errorFor, errorKinds } from '@codelanes/protocol';
import { cutText } from '../dispatch/cut-text.js';
import { fittingReason, QueueTimeout } from '../dispatch/queue-timeout.js';

/** Leaves room for the other fields in `limits.queueTimeoutBodyBytes`. */
const queueTimeoutMessageBytes = 1200;

/** What every error reply holds; `error` is the sentence, under the name that LibreChat reads. */
export interface ErrorBody {
  readonly error: string;
  readonly code: ErrorCode;
  readonly next: string;
  /** Of `WORKSPACE_QUEUE_TIMEOUT` only. */
  readonly waitedFor?: WaitingReason;
}

export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

/** The reply that tells a client of that generation of an error. */
export function errorReply(error: CodelanesError, generation: ClientGeneration): ErrorReply {
  const { code, message } = errorFor(generation, { code: error.code, message: error.message });
  const { status, next } = errorKinds[code];
  if (code !== 'WORKSPACE_QUEUE_TIMEOUT')
    return { status, headers: {}, body: { error: message, code, next } };
  const body: ErrorBody = { error: cutText(message, queueTimeoutMessageBytes), code, next };
  const waitedFor = error instanceof QueueTimeout ? fittingReason(body, error.waitedFor) : undefined;
  return {
    status,
    headers: { 'retry-after': '1' },
    body: waitedFor === undefined ? body : { ...body, waitedFor },
  };
}
