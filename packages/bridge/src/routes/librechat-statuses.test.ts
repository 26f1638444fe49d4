import type { ErrorCode } from '@codelanes/protocol';
import { CodelanesError, errorCodeSchema, errorKinds } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimited } from '../auth/rate-limit.js';
import { NeverStarted } from '../dispatch/never-started.js';
import { errorReply } from './error-reply.js';

/** What LibreChat takes each status for, and which codes it finds there. */
const statuses: Readonly<Record<number, readonly ErrorCode[]>> = {
  400: ['MALFORMED_REQUEST', 'INVALID_WORKSPACE_QUEUE_WAIT'],
  401: ['UNAUTHENTICATED'],
  403: ['WORKER_UNAUTHORIZED', 'WRITE_DISABLED', 'COMMAND_DISABLED'],
  409: [
    'EDIT_CONFLICT',
    'WORKER_MISMATCH',
    'WORKSPACE_QUARANTINED',
    'CALL_ID_TAKEN',
    'EXECUTION_PROFILE_MISMATCH',
  ],
  413: ['WRITE_LIMIT_EXCEEDED', 'BODY_TOO_LARGE'],
  422: [
    'INVALID_PATH',
    'INVALID_REQUEST',
    'READ_LIMIT_EXCEEDED',
    'REGISTRATION_INVALID',
    'EXECUTION_ABORTED',
  ],
  429: ['WORKER_QUEUE_FULL', 'RATE_LIMITED'],
  502: ['RESULT_INVALID'],
  503: [
    'WORKSPACE_QUEUE_TIMEOUT',
    'WORKER_OFFLINE',
    'WRITE_UNAVAILABLE',
    'LIST_UNAVAILABLE',
    'SEARCH_UNAVAILABLE',
    'COMMAND_UNAVAILABLE',
  ],
  504: ['ASSIGNMENT_EXPIRED', 'SEARCH_TIMEOUT', 'LIST_TIMEOUT', 'COMMAND_TIMEOUT'],
};
const rows = Object.entries(statuses).flatMap(([status, codes]) =>
  codes.map((code) => [Number(status), code] as const),
);

describe('a reply to LibreChat', () => {
  it.each(rows)('has the status %i for %s, with a body of three fields', (status, code) => {
    for (const generation of ['A', 'B', 'own'] as const) {
      const reply = errorReply(new CodelanesError(code, 'What happened.'), generation);
      expect(reply.status).toBe(status);
      expect(reply.body).toMatchObject({ code, error: 'What happened.', next: errorKinds[code].next });
    }
  });

  it('tells a client of generation A of NOT_FOUND as of the code that it knows', () => {
    const missing = new CodelanesError('NOT_FOUND', 'No such file.');
    expect(errorReply(missing, 'A')).toMatchObject({ status: 422, body: { code: 'INVALID_PATH' } });
    expect(errorReply(missing, 'B')).toMatchObject({ status: 422, body: { code: 'NOT_FOUND' } });
  });

  it('is repeated in its two forms only, and both of these say when', () => {
    const neverStarted = errorReply(new NeverStarted('BRIDGE_STOPPING', 'It did not start.'), 'A');
    expect(neverStarted).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { code: 'WORKSPACE_QUEUE_TIMEOUT' },
    });
    const limited = errorReply(new RateLimited({ calls: 1, windowMs: 1_000 }, 1_500), 'A');
    expect(limited).toMatchObject({
      status: 429,
      headers: { 'retry-after': '2' },
      body: { error: 'rate_limited', retry_after_seconds: 2 },
    });
    for (const [, code] of rows) {
      const { headers } = errorReply(new CodelanesError(code, 'x'), 'A');
      expect('retry-after' in headers).toBe(code === 'WORKSPACE_QUEUE_TIMEOUT');
    }
  });

  it('has less than the 4 KiB that LibreChat reads, whatever happened', () => {
    const message = fc.oneof(
      fc.string({ unit: 'binary', minLength: 3_000, maxLength: 4_096 }),
      fc.constantFrom(
        '\u0000'.repeat(4_096),
        '"'.repeat(4_096),
        '\u{1F600}'.repeat(2_048),
        'x'.repeat(4_096),
      ),
    );
    const code = fc.constantFrom(...errorCodeSchema.options);
    fc.assert(
      fc.property(code, message, (each, text) => {
        const { body } = errorReply(new CodelanesError(each, text), 'A');
        return Buffer.byteLength(JSON.stringify(body)) < 4_096;
      }),
    );
  });
});
