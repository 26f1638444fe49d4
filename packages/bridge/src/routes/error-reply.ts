import type { ClientGeneration, CodelanesError, ErrorCode, WaitingReason } from '@codelanes/protocol';
import { errorFor, errorKinds } from '@codelanes/protocol';
import { RateLimited } from '../auth/rate-limit.js';
import { cutText } from '../dispatch/cut-text.js';
import { NeverStarted } from '../dispatch/never-started.js';
import { fittingReason, QueueTimeout } from '../dispatch/queue-timeout.js';

/** Leaves room for the other fields in `limits.queueTimeoutBodyBytes`. */
const queueTimeoutMessageBytes = 1200;

/** LibreChat reads 4 KiB of an error and understands none that is longer; the other fields need some of it. */
const messageBytes = 3400;

/** What every error reply holds; `error` is the sentence, under the name that LibreChat reads. */
export interface ErrorBody {
  /** Of `RATE_LIMITED` the word by which LibreChat knows that it may repeat the call. */
  readonly error: string;
  readonly code: ErrorCode;
  readonly next: string;
  /** Of `WORKSPACE_QUEUE_TIMEOUT` only. */
  readonly waitedFor?: WaitingReason;
  /** Of `RATE_LIMITED` only: its sentence, and how long to wait. */
  readonly message?: string;
  readonly retry_after_seconds?: number;
}

export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

/** The reply that tells a client of that generation of an error. */
export function errorReply(error: CodelanesError, generation: ClientGeneration): ErrorReply {
  const { code, message } = errorFor(generation, {
    code: codeFor(generation, error),
    message: error.message,
  });
  const { status, next } = errorKinds[code];
  if (error instanceof RateLimited) return rateLimitedReply(error, status);
  if (code !== 'WORKSPACE_QUEUE_TIMEOUT')
    return { status, headers: {}, body: { error: cutText(message, messageBytes), code, next } };
  const body: ErrorBody = { error: cutText(message, queueTimeoutMessageBytes), code, next };
  const waitedFor = error instanceof QueueTimeout ? fittingReason(body, error.waitedFor) : undefined;
  return {
    status,
    headers: { 'retry-after': '1' },
    body: waitedFor === undefined ? body : { ...body, waitedFor },
  };
}

/** Of replies with a status of 503 LibreChat repeats a call after this code only. */
function codeFor(generation: ClientGeneration, error: CodelanesError): ErrorCode {
  return error instanceof NeverStarted && generation !== 'own' ? 'WORKSPACE_QUEUE_TIMEOUT' : error.code;
}

/** The one form of a 429 that LibreChat's client waits for and repeats; it reads whole seconds. */
function rateLimitedReply({ message, retryAfterMs }: RateLimited, status: number): ErrorReply {
  const code = 'RATE_LIMITED';
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return {
    status,
    headers: { 'retry-after': String(seconds) },
    body: { error: 'rate_limited', code, message, next: errorKinds[code].next, retry_after_seconds: seconds },
  };
}
