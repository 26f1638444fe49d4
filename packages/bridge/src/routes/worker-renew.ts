import type { RenewReply } from '@codelanes/protocol';
import { CodelanesError, renewRequestSchema, workerWireVersion } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import type { RouteContext } from './context.js';
import { parseWorkerBody } from './parse.js';
import { admitWorker } from './worker-admission.js';
import { workerIdOf } from './worker-path.js';

/** `POST /v1/workers/:id/renew`: prolongs all leases of a worker at once, and its registration. */
export function workerRenewRoute(app: FastifyInstance, context: RouteContext): void {
  const { store } = context;
  app.post('/v1/workers/:id/renew', admitWorker(context), async (request) => {
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
