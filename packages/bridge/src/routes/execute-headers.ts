import {
  callIdHeader,
  callIdSchema,
  CodelanesError,
  limits,
  queueWaitHeader,
  workerIdHeader,
  workerIdSchema,
} from '@codelanes/protocol';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { parse } from './parse.js';

const headersSchema = z.object({
  [workerIdHeader]: workerIdSchema.optional(),
  [callIdHeader]: callIdSchema.optional(),
});

export interface ExecuteHeaders {
  readonly workerId: string | undefined;
  readonly callId: string | undefined;
  readonly queueWaitMs: number;
}

/** @throws CodelanesError `MALFORMED_REQUEST` or `INVALID_WORKSPACE_QUEUE_WAIT`. */
export function executeHeadersOf(headers: IncomingHttpHeaders): ExecuteHeaders {
  const known = parse(headersSchema, headers, 'header');
  return {
    workerId: known[workerIdHeader],
    callId: known[callIdHeader],
    queueWaitMs: queueWaitOf(headers[queueWaitHeader]),
  };
}

function queueWaitOf(header: string | string[] | undefined): number {
  if (header === undefined) return limits.queueDefaultWaitMs;
  const ms = typeof header === 'string' && /^[1-9][0-9]{0,5}$/.test(header) ? Number(header) : undefined;
  if (ms !== undefined && ms <= limits.queueWaitMs) return ms;
  throw new CodelanesError(
    'INVALID_WORKSPACE_QUEUE_WAIT',
    `header ${queueWaitHeader}: expected a whole number from 1 to ${limits.queueWaitMs}.`,
  );
}
