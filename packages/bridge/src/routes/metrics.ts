import type { FastifyInstance } from 'fastify';
import type { SchedulerStore, WorkerLoad } from '../scheduler/store.js';
import { admit } from './admission.js';
import type { RouteContext } from './context.js';

/**
 * `GET /metrics`, in the text format of Prometheus; with the administrator's token, unless the operator opened
 * it. A store that cannot be reached leaves the numbers of workers out, not the others.
 */
export function metricsRoute(app: FastifyInstance, { store, tokens, metrics, settings }: RouteContext): void {
  if (settings.metrics === 'off') return;
  const options = settings.metrics === 'open' ? {} : { onRequest: admit(tokens, 'admin') };
  app.get('/metrics', options, async (_request, reply) => {
    const text = await metrics.text(await loadsOf(store));
    return reply.type(metrics.contentType).send(text);
  });
}

async function loadsOf(store: SchedulerStore): Promise<ReadonlyMap<string, WorkerLoad>> {
  try {
    const workers = await store.workers();
    const loads = await Promise.all(workers.map(async (id) => [id, await store.load(id)] as const));
    return new Map(loads.flatMap(([id, load]) => (load === undefined ? [] : [[id, load] as const])));
  } catch {
    return new Map();
  }
}
