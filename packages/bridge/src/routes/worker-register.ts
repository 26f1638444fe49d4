import type { Capabilities, RegisterReply } from '@codelanes/protocol';
import { CodelanesError, laneOf, registerRequestSchema, workerWireVersion } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import type { NodeCapacity } from '../scheduler/store.js';
import { admit } from './admission.js';
import type { RouteContext } from './context.js';
import { malformed, parseWorkerBody } from './parse.js';
import { workerIdOf } from './worker-path.js';

/** `POST /v1/workers/:id/register`: takes in an incarnation of a worker and tells it the terms. */
export function workerRegisterRoute(app: FastifyInstance, context: RouteContext): void {
  const { store, tokens, settings } = context;
  app.post('/v1/workers/:id/register', { onRequest: admit(tokens, 'worker') }, async (request) => {
    const workerId = workerIdOf(request);
    const { version: _version, ...offer } = parseWorkerBody(registerRequestSchema, request.body);
    if (offer.workerId !== workerId) throw malformed('body.workerId: expected the id that the path names');
    const slots = Math.min(offer.slots, settings.slots);
    const registered = await store.register({
      ...offer,
      slots,
      filePool: settings.filePool,
      capacities: capacitiesOf(offer.capabilities),
    });
    if (!registered.ok) throw new CodelanesError(registered.error.code, registered.error.message);
    if (offer.takeOver)
      request.log.warn({ workerId }, 'a worker took this identity over, as its operator asked');
    return {
      version: workerWireVersion,
      slots,
      filePool: settings.filePool,
      leaseTtlMs: settings.leaseTtlMs,
      renewEveryMs: settings.renewEveryMs,
      unresolved: [...registered.unresolved],
    } satisfies RegisterReply;
  });
}

/** The bounds that the operator of a worker set on its repositories, by lane. */
function capacitiesOf({ workspaceTools }: Capabilities): NodeCapacity[] {
  return workspaceTools.workspaces.flatMap(({ id, capacities = [] }) =>
    capacities.map(({ repository, commands }) => ({
      lane: laneOf({ workspaceId: id, repository }),
      commands,
    })),
  );
}
