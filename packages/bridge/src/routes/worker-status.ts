import { capabilitiesFor, limits } from '@codelanes/protocol';
import type { ClientGeneration } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import type { WorkerView } from '../scheduler/store.js';
import { admit } from './admission.js';
import { usableWorker } from './chosen-worker.js';
import { clientGenerationOf } from './client-generation.js';
import type { RouteContext } from './context.js';
import { workerIdOf } from './worker-path.js';

/** Bounds of `leaseExpiresInMs` in LibreChat's form of the status. */
const leaseBounds = { least: 1, most: 60_000 };

/**
 * `GET /v1/bridge/workers/:id/status`, as LibreChat reads it. A worker that was never seen, or is none of the
 * caller's, is offline, not an error.
 */
export function workerStatusRoute(app: FastifyInstance, context: RouteContext): void {
  const { tokens, settings } = context;
  app.get(
    '/v1/bridge/workers/:id/status',
    { onRequest: admit(tokens, 'admin', 'caller') },
    async (request) => {
      const workerId = workerIdOf(request);
      const generation = clientGenerationOf(request, settings.clientGeneration);
      return statusOf(workerId, await usableWorker(context, request, workerId), generation);
    },
  );
}

function statusOf(workerId: string, worker: WorkerView | undefined, generation: ClientGeneration): object {
  const online = worker?.online === true;
  const status = { protocolVersion: 1, workerId, online, ready: online };
  // LibreChat takes the status of an offline worker for invalid where it holds more.
  if (worker === undefined || (!online && generation !== 'own')) return status;
  const { capabilities, leaseExpiresInMs } = worker;
  const runsCommands = capabilities.workspaceTools.operations.includes('execute_command');
  return {
    ...status,
    ...(online ? { leaseExpiresInMs: withinBounds(leaseExpiresInMs) } : {}),
    ...(runsCommands ? { maxCommandTimeoutMs: limits.commandTimeoutMs } : {}),
    capabilities: capabilitiesFor(generation, capabilities),
  };
}

function withinBounds(ms: number): number {
  return Math.min(leaseBounds.most, Math.max(leaseBounds.least, Math.round(ms)));
}
