import { admissionRefusalOf, type AdmissionRefusal } from './admission-refusal.js';
import { jsonObject } from './json-object.js';

/**
 * Why a call has no result. `rejected`: the server refused it, with `upstreamStatus`. `invalid`: the request, or the
 * reply, breaks the protocol. `timeout` and `failed`: no reply came, and the outcome is unknown.
 * `insufficient_time`: nothing was sent, as it could not end in the time that is left.
 */
export type WorkspaceToolFailure = 'rejected' | 'invalid' | 'timeout' | 'failed' | 'insufficient_time';

/** A workspace tool call without a result; name and properties are those of LibreChat's own class. */
export class WorkspaceToolHttpError extends Error {
  override readonly name = 'WorkspaceToolHttpError';
  readonly reason: WorkspaceToolFailure;
  readonly upstreamStatus: number | undefined;
  /** At most 4 KiB of the reply, for a person; where it was longer or did not end, `upstreamBodyTruncated`. */
  readonly upstreamBody: string | undefined;
  readonly upstreamBodyTruncated: boolean;
  /** What the worker says of an edit that met another file than it was made for; written for the model. */
  readonly editConflict: string | undefined;

  constructor(
    reason: WorkspaceToolFailure,
    upstreamStatus?: number,
    upstreamBody?: string,
    upstreamBodyTruncated = false,
  ) {
    super(sentenceOf(reason, upstreamStatus, upstreamBody, upstreamBodyTruncated));
    this.reason = reason;
    this.upstreamStatus = upstreamStatus;
    this.upstreamBody = upstreamBody;
    this.upstreamBodyTruncated = upstreamBodyTruncated;
    this.editConflict = upstreamStatus === 409 ? editConflictOf(upstreamBody) : undefined;
  }
}

const sentences: Readonly<Record<WorkspaceToolFailure, string>> = {
  rejected: 'The workspace tool call was refused.',
  invalid: 'The workspace tool call, or its reply, breaks the protocol.',
  timeout: 'The workspace tool call ran out of time. Its outcome is unknown: look before it is repeated.',
  failed: 'The workspace tool call had no reply. Its outcome is unknown: look before it is repeated.',
  insufficient_time: 'The call cannot end in the time that is left. Nothing was started.',
};

const refusals: Readonly<Record<AdmissionRefusal, string>> = {
  queue_timeout:
    'The workspace was busy until the call had waited its time. Nothing was started: wait for what runs there, or work in another lane.',
  rate_limited:
    'Too many calls were sent. Nothing was started: wait a few seconds, or send fewer calls at once.',
};

function sentenceOf(
  reason: WorkspaceToolFailure,
  status: number | undefined,
  body: string | undefined,
  truncated: boolean,
): string {
  const refusal = admissionRefusalOf(status, body, truncated);
  const parts = [
    refusal === undefined ? sentences[reason] : refusals[refusal],
    ...(status === undefined ? [] : [`(upstreamStatus: ${status})`]),
    ...(body === undefined || body === '' ? [] : [`upstreamBody: ${JSON.stringify(body)}`]),
    ...(truncated ? ['[body truncated or incomplete]'] : []),
  ];
  return parts.join(' ');
}

function editConflictOf(body: string | undefined): string | undefined {
  const fields = jsonObject(body ?? '');
  const error = fields?.['error'];
  return fields?.['code'] === 'EDIT_CONFLICT' && typeof error === 'string' ? error : undefined;
}
