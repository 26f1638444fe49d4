import type { FastifyInstance } from 'fastify';
import { admit } from './admission.js';
import type { RouteContext } from './context.js';

/** `GET /v1/bridge/workers`: the ids of the workers that this bridge knows, for an administrator. */
export function workersRoute(app: FastifyInstance, { store, tokens }: RouteContext): void {
  app.get('/v1/bridge/workers', { onRequest: admit(tokens, 'admin') }, async () => ({
    workers: await store.workers(),
  }));
}
