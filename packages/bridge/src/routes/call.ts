import { callIdSchema, callViewSchema } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { admit, principalOf } from './admission.js';
import { connectionOf } from './connection-of.js';
import type { RouteContext } from './context.js';
import { parse } from './parse.js';

const longestWaitMs = 25_000;

const pathSchema = z.object({ id: callIdSchema });

/** A whole number as it stands in a query, up to a bound. */
function wholeNumber(most: number) {
  return z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,15})$/, `expected a whole number from 0 to ${most}`)
    .transform(Number)
    .refine((value) => value <= most, `expected a whole number from 0 to ${most}`);
}

const querySchema = z.strictObject({
  after: wholeNumber(Number.MAX_SAFE_INTEGER).optional(),
  seen: callViewSchema.shape.mark,
  waitMs: wholeNumber(longestWaitMs).optional(),
});

/**
 * `GET /v1/calls/:id?after=<revision>&seen=<mark>&waitMs=<ms>`: a caller's own call, answered at once without
 * `after`, else at the next change beyond that revision, when it waits for something else than that mark names, or
 * after `waitMs`.
 */
export function callRoute(app: FastifyInstance, { watch, tokens }: RouteContext): void {
  app.get('/v1/calls/:id', { onRequest: admit(tokens, 'caller') }, async (request, reply) => {
    const { after, seen, waitMs } = parse(querySchema, request.query, 'query');
    const { id } = parse(pathSchema, request.params, 'path');
    const principal = principalOf(request);
    return watch.next(
      { callId: id, principal, after, seen, waitMs: waitMs ?? longestWaitMs },
      connectionOf(reply),
    );
  });
}
