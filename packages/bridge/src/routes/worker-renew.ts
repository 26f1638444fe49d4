import type { RenewReply } from '@codelanes/protocol';
import { CodelanesError, renewRequestSchema, workerWireVersion } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import { admit } from './admission.js';
import type { RouteContext } from './context.js';
import { parseWorkerBody } from './parse.js';
import { workerIdOf } from './worker-path.js';

/** `POST /v1/workers/:id/renew`: prolongs all leases of a worker at once, and its registration. */
export function workerRenewRoute(app: FastifyInstance, { store, tokens }: RouteContext): void {
  app.post('/v1/workers/:id/renew', { onRequest: admit(tokens, 'worker') }, async (request) => {
    const workerId = workerIdOf(request);
    const { incarnationId, leases } = parseWorkerBody(renewRequestSchema, request.body);
    const renewed = await store.renew({ workerId, incarnationId }, leases);
    if (!renewed.ok) throw new CodelanesError(renewed.error.code, renewed.error.message);
    return {
      version: workerWireVersion,
      lost: [...renewed.lost],
      cancellations: [...renewed.cancellations],
    } satisfies RenewReply;
  });
}
