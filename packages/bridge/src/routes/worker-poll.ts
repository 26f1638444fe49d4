import type { PollReply } from '@codelanes/protocol';
import { pollRequestSchema, workerWireVersion } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import { admit } from './admission.js';
import { connectionOf } from './connection-of.js';
import type { RouteContext } from './context.js';
import { parseWorkerBody } from './parse.js';
import { workerIdOf } from './worker-path.js';

/** `POST /v1/workers/:id/poll`: the worker's long poll for assignments and cancellations. */
export function workerPollRoute(app: FastifyInstance, { polls, tokens }: RouteContext): void {
  app.post('/v1/workers/:id/poll', { onRequest: admit(tokens, 'worker') }, async (request, reply) => {
    const workerId = workerIdOf(request);
    const { incarnationId, waitMs } = parseWorkerBody(pollRequestSchema, request.body);
    const polled = await polls.poll({ workerId, incarnationId }, waitMs, connectionOf(reply));
    return {
      version: workerWireVersion,
      heldMs: polled.heldMs,
      assignments: [...polled.assignments],
      cancellations: [...polled.cancellations],
    } satisfies PollReply;
  });
}
