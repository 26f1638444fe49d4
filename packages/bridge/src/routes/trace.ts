import { requestIdHeader, requestIdSchema, traceparentHeader, traceparentSchema } from '@codelanes/protocol';
import type { Trace } from '@codelanes/protocol';
import type { FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The caller's own id of a request, where it sends one that is safe in a log, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = requestIdSchema.safeParse(headers[requestIdHeader]);
  return sent.success ? sent.data : randomUUID();
}

/** What goes to the worker's log with a call. A malformed `traceparent` is as good as none, as W3C has it. */
export function traceOf({ id, headers }: Pick<FastifyRequest, 'id' | 'headers'>): Trace {
  const traceparent = traceparentSchema.safeParse(headers[traceparentHeader]);
  return { requestId: id, ...(traceparent.success ? { traceparent: traceparent.data } : {}) };
}
