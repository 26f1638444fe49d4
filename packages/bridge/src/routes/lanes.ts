import { CodelanesError } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import { admit } from './admission.js';
import type { RouteContext } from './context.js';
import { workerIdOf } from './worker-path.js';

/** `GET /v1/bridge/workers/:id/lanes`: what runs and what waits at one worker, for an administrator. */
export function lanesRoute(app: FastifyInstance, { store, tokens }: RouteContext): void {
  app.get('/v1/bridge/workers/:id/lanes', { onRequest: admit(tokens, 'admin') }, async (request) => {
    const workerId = workerIdOf(request);
    const lanes = await store.lanes(workerId);
    if (lanes !== undefined) return lanes;
    throw new CodelanesError('WORKER_NOT_FOUND', `No worker "${workerId}" has registered with this bridge.`);
  });
}
