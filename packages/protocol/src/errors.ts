import { z } from 'zod';
import { limits } from './limits.js';

export type Fault = 'caller' | 'operator' | 'worker' | 'bridge' | 'nobody';

export interface ErrorKind {
  /** HTTP status of a reply that carries this code. */
  readonly status: number;
  /** Whether the same call may simply be sent again: only where nothing of it ran. */
  readonly retryable: boolean;
  readonly fault: Fault;
  /** What the reader does next, as a sentence. */
  readonly next: string;
}

/**
 * Every error that crosses a wire. Statuses are those that LibreChat's client expects; the documentation page
 * `docs/errors.md` says the same, and a test compares the two.
 */
export const errorKinds = {
  MALFORMED_REQUEST: {
    status: 400,
    retryable: false,
    fault: 'caller',
    next: 'Correct the field that the message names and send the call again.',
  },
  INVALID_WORKSPACE_QUEUE_WAIT: {
    status: 400,
    retryable: false,
    fault: 'caller',
    next: 'Send a whole number of milliseconds from 1 to 300000 in X-LibreChat-Workspace-Queue-Wait-Ms, or leave it out.',
  },
  UNAUTHENTICATED: {
    status: 401,
    retryable: false,
    fault: 'caller',
    next: 'Send the token of this bridge as "Authorization: Bearer …".',
  },
  CREDENTIAL_EXPIRED: {
    status: 401,
    retryable: false,
    fault: 'worker',
    next: 'Ask for a new credential with this one; a paired worker does so by itself.',
  },
  CLOCK_SKEWED: {
    status: 401,
    retryable: false,
    fault: 'operator',
    next: 'Set the clock of the machine that the message names; a worker goes on by itself then.',
  },
  PROOF_REPLAYED: {
    status: 401,
    retryable: false,
    fault: 'worker',
    next: 'Sign the request anew, with a new nonce and the time of now; a paired worker does so by itself.',
  },
  PAIRING_INVALID: {
    status: 401,
    retryable: false,
    fault: 'caller',
    next: 'Make a new code with "codelanes bridge pairing create"; each can be used once, within ten minutes.',
  },
  FORBIDDEN: {
    status: 403,
    retryable: false,
    fault: 'caller',
    next: 'Use the token that was made for this route.',
  },
  WORKER_UNAUTHORIZED: {
    status: 403,
    retryable: false,
    fault: 'caller',
    next: 'Name a worker that this caller may use.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    retryable: false,
    fault: 'caller',
    next: 'Check the path and the method against the protocol reference.',
  },
  CALL_NOT_FOUND: {
    status: 404,
    retryable: false,
    fault: 'caller',
    next: 'List what runs and waits with "codelanes lanes"; ended calls are forgotten.',
  },
  WORKER_NOT_FOUND: {
    status: 404,
    retryable: false,
    fault: 'caller',
    next: 'Start the worker, or name one that has registered with this bridge.',
  },
  DURABLE_REQUESTS_NOT_OFFERED: {
    status: 404,
    retryable: false,
    fault: 'operator',
    next: 'Use POST /v1/workspace-tools/execute, or start the bridge with a Redis store.',
  },
  REQUEST_NOT_FOUND: {
    status: 404,
    retryable: false,
    fault: 'caller',
    next: 'Name a durable request of this caller; they are forgotten 24 hours after they have ended.',
  },
  CONTINUATION_NOT_FOUND: {
    status: 404,
    retryable: false,
    fault: 'caller',
    next: 'Look at what the script has done in its lane, then run what is missing as a new script; do not run it whole again unseen.',
  },
  REQUEST_CONFLICT: {
    status: 409,
    retryable: false,
    fault: 'caller',
    next: 'Send other work under a new request id; the same id may only repeat the same work.',
  },
  CONTINUATION_CONFLICT: {
    status: 409,
    retryable: false,
    fault: 'caller',
    next: 'Wait for the answer to the request that came first; a continuation token goes on once.',
  },
  WORKER_MISMATCH: {
    status: 409,
    retryable: false,
    fault: 'caller',
    next: 'Send only what the status of the worker advertises; lanes need a worker started with --linked-worktree-lanes.',
  },
  EXECUTION_PROFILE_MISMATCH: {
    status: 409,
    retryable: false,
    fault: 'operator',
    next: 'Let the environment in librechat.yaml be attached, or name the base URL of the service that has the expected profile.',
  },
  BRIDGE_WORKER_MISMATCH: {
    status: 409,
    retryable: false,
    fault: 'operator',
    next: 'Nothing ran. Do not repeat the call; the message says what the workspace or its lane lacks.',
  },
  WORKER_FENCED: {
    status: 409,
    retryable: false,
    fault: 'operator',
    next: 'Another worker serves under this identity: stop it, wait for its lease to end, or start this one with --take-over.',
  },
  CALL_ID_TAKEN: {
    status: 409,
    retryable: false,
    fault: 'caller',
    next: 'Propose a new random call id; a retry is a new call.',
  },
  LEASE_FENCED: {
    status: 409,
    retryable: false,
    fault: 'worker',
    next: 'Discard the result: this lease has ended or belongs to another.',
  },
  WORKSPACE_QUARANTINED: {
    status: 409,
    retryable: false,
    fault: 'operator',
    next: 'Processes of an earlier call may still run in this lane, or a call left it in doubt. Where processes are why, it heals when they are gone; else "codelanes lanes release" frees it after a look of your own.',
  },
  EDIT_CONFLICT: {
    status: 409,
    retryable: false,
    fault: 'caller',
    next: 'Read the file again and repeat the edit against what it holds now.',
  },
  ASSIGNMENT_EXPIRED: {
    status: 504,
    retryable: false,
    fault: 'worker',
    next: 'The outcome is unknown: look at the lane before deciding whether to run the call again.',
  },
  CALL_CANCELLED: {
    status: 409,
    retryable: false,
    fault: 'caller',
    next: 'Nothing; the call was cancelled on request.',
  },
  WRITE_LIMIT_EXCEEDED: {
    status: 413,
    retryable: false,
    fault: 'caller',
    next: 'Write at most 1 MiB at once.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    retryable: false,
    fault: 'caller',
    next: 'Send a body within the limit that the message names.',
  },
  INVALID_PATH: {
    status: 422,
    retryable: false,
    fault: 'caller',
    next: 'Name a path inside the lane; paths are relative to it and no link may lead out of it.',
  },
  NOT_FOUND: {
    status: 422,
    retryable: false,
    fault: 'caller',
    next: 'List the folder to see what is there.',
  },
  INVALID_REQUEST: {
    status: 422,
    retryable: false,
    fault: 'caller',
    next: 'Correct what the message names and send the call again.',
  },
  READ_LIMIT_EXCEEDED: {
    status: 422,
    retryable: false,
    fault: 'caller',
    next: 'Read fewer lines, or use a command for a file of this size.',
  },
  REGISTRATION_INVALID: {
    status: 422,
    retryable: false,
    fault: 'operator',
    next: 'The registered root changed since the worker started: restart the worker on the folder that is meant.',
  },
  UNSUPPORTED_CAPABILITY: {
    status: 422,
    retryable: false,
    fault: 'caller',
    next: 'Nothing ran. Select an attached workspace, write bash, and send files inline.',
  },
  WORKSPACE_SETUP_FAILED: {
    status: 422,
    retryable: false,
    fault: 'operator',
    next: 'The command did not run: mend what the end of the log names, then let "codelanes setup retry" set the lane up again.',
  },
  EXECUTION_ABORTED: {
    status: 422,
    retryable: false,
    fault: 'caller',
    next: 'Nothing; the call was stopped on request. What it had already changed stays.',
  },
  WRITE_DISABLED: {
    status: 403,
    retryable: false,
    fault: 'operator',
    next: 'Ask the operator to let this root be written.',
  },
  COMMAND_DISABLED: {
    status: 403,
    retryable: false,
    fault: 'operator',
    next: 'Ask the operator of the machine; the message says what its sandbox lacks.',
  },
  RATE_LIMITED: {
    status: 429,
    retryable: true,
    fault: 'caller',
    next: 'Nothing ran. Send the call again after the seconds that Retry-After names.',
  },
  WORKER_QUEUE_FULL: {
    status: 429,
    retryable: true,
    fault: 'nobody',
    next: 'Wait until calls of this worker have ended and send the call again.',
  },
  INTERNAL_FAULT: {
    status: 500,
    retryable: false,
    fault: 'bridge',
    next: 'Report this with the request id to the operator of the bridge.',
  },
  RESULT_INVALID: {
    status: 502,
    retryable: false,
    fault: 'worker',
    next: 'The call ran, but its result breaks the protocol: look at the lane, and update the worker.',
  },
  WORKSPACE_QUEUE_TIMEOUT: {
    status: 503,
    retryable: true,
    fault: 'nobody',
    next: 'Nothing ran. Send the identical call again within 3 seconds to keep its place.',
  },
  WORKER_OFFLINE: {
    status: 503,
    retryable: true,
    fault: 'operator',
    next: 'Nothing ran. Start the worker, or see why it cannot reach the bridge.',
  },
  WORKER_STILL_LEASED: {
    status: 503,
    retryable: true,
    fault: 'nobody',
    next: 'Wait: the worker asks again by itself, and is taken in when that time is over.',
  },
  BRIDGE_STOPPING: {
    status: 503,
    retryable: true,
    fault: 'nobody',
    next: 'Nothing ran. Send the call again when the bridge is back.',
  },
  STORE_UNAVAILABLE: {
    status: 503,
    retryable: true,
    fault: 'operator',
    next: 'No call ran; a durable request may be in. Send the same again under the same id; if this goes on, see whether Redis is up.',
  },
  SIGNING_KEYS_UNAVAILABLE: {
    status: 503,
    retryable: true,
    fault: 'operator',
    next: 'Nothing ran. See why the bridge cannot load the keys that verify its callers; it tries again by itself.',
  },
  WRITE_UNAVAILABLE: {
    status: 503,
    retryable: false,
    fault: 'worker',
    next: 'See the message; the file is as it was before.',
  },
  LIST_UNAVAILABLE: {
    status: 503,
    retryable: true,
    fault: 'operator',
    next: 'Install ripgrep on the machine of the worker.',
  },
  SEARCH_UNAVAILABLE: {
    status: 503,
    retryable: true,
    fault: 'operator',
    next: 'Install ripgrep on the machine of the worker.',
  },
  COMMAND_UNAVAILABLE: {
    status: 503,
    retryable: false,
    fault: 'operator',
    next: 'See the message; the command did not start.',
  },
  LIST_TIMEOUT: { status: 504, retryable: true, fault: 'nobody', next: 'List a smaller folder.' },
  SEARCH_TIMEOUT: { status: 504, retryable: true, fault: 'nobody', next: 'Search a smaller folder.' },
  COMMAND_TIMEOUT: {
    status: 504,
    retryable: false,
    fault: 'caller',
    next: 'Give the command more time, or do less in it.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

const codes = Object.keys(errorKinds).filter((code): code is ErrorCode => code in errorKinds);
export const errorCodeSchema = z.enum(codes);

/** What stands in an error reply and in a rejected settlement. */
export const wireErrorSchema = z.strictObject({
  code: errorCodeSchema,
  message: z.string().max(limits.errorMessageLength),
});
export type WireError = z.infer<typeof wireErrorSchema>;

const mark = Symbol.for('codelanes.error');

/**
 * An error with a code of the table. `CodelanesError.is` holds across two copies of this package, where
 * `instanceof` would not.
 */
export class CodelanesError extends Error {
  override readonly name = 'CodelanesError';
  readonly code: ErrorCode;
  readonly [mark] = true;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static is(value: unknown): value is CodelanesError {
    return value instanceof Error && mark in value;
  }
}
