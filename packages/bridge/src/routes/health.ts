import { CodelanesError } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import type { RouteContext } from './context.js';

/** A load balancer asks often and does not wait for long. */
const readyWithinMs = 1_000;

/**
 * `GET /healthz`: whether the process answers. `GET /readyz`: whether calls can be sent to it, as its store can be
 * reached and it is not stopping. Both need no token and tell nothing else.
 */
export function healthRoute(app: FastifyInstance, { store, dispatcher }: RouteContext): void {
  app.get('/healthz', () => ({ ok: true }));
  app.get('/readyz', async () => {
    if (dispatcher.isStopping) throw new CodelanesError('BRIDGE_STOPPING', 'The bridge is stopping.');
    await within(store.ready(), readyWithinMs);
    return { ready: true };
  });
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new CodelanesError('STORE_UNAVAILABLE', `The store did not answer within ${ms} ms.`));
    }, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
