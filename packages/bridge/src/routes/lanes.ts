import { CodelanesError } from '@codelanes/protocol';
import type { LanesView } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import type { WorkerView } from '../scheduler/store.js';
import { admit } from './admission.js';
import type { RouteContext } from './context.js';
import { workerIdOf } from './worker-path.js';

/** `GET /v1/bridge/workers/:id/lanes`: what runs and what waits at one worker, for an administrator. */
export function lanesRoute(app: FastifyInstance, { store, tokens, settings }: RouteContext): void {
  app.get('/v1/bridge/workers/:id/lanes', { onRequest: admit(tokens, 'admin') }, async (request) => {
    const workerId = workerIdOf(request);
    const [lanes, worker] = await Promise.all([store.lanes(workerId), store.worker(workerId)]);
    if (lanes !== undefined) return { ...lanes, ...heard(worker, settings.leaseTtlMs) } satisfies LanesView;
    throw new CodelanesError('WORKER_NOT_FOUND', `No worker "${workerId}" has registered with this bridge.`);
  });
}

/** A lease begins anew at each sign of life; of a worker whose lease has ended nobody remembers the last. */
function heard(worker: WorkerView | undefined, leaseTtlMs: number): Pick<LanesView, 'heardAgoMs'> {
  if (worker?.online !== true) return {};
  return { heardAgoMs: Math.max(0, Math.floor(leaseTtlMs - worker.leaseExpiresInMs)) };
}
