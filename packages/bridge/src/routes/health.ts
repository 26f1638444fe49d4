import type { FastifyInstance } from 'fastify';

/** `GET /healthz`: whether the process answers; needs no token and tells nothing else. */
export function healthRoute(app: FastifyInstance): void {
  app.get('/healthz', () => ({ ok: true }));
}
