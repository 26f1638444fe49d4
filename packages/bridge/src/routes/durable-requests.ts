import type { DurableCapabilities } from '@codelanes/protocol';
import {
  assertAdvertised,
  callIdHeader,
  CodelanesError,
  durableRequestHeader,
  durableRequestIdSchema,
  limits,
  workspaceToolRequestSchema,
} from '@codelanes/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { durableStatusOf } from '../dispatch/durable-status.js';
import { callIdOfWork, fingerprintOfWork } from '../dispatch/fingerprint.js';
import { newCallOf } from '../dispatch/new-call.js';
import { refusalError } from '../dispatch/worker-changed.js';
import type { DurableRequests, DurableView, NewDurableRequest } from '../scheduler/durable-requests.js';
import { admit, principalOf } from './admission.js';
import { enterAtChosenWorker, type ChosenWorker } from './chosen-worker.js';
import { clientGenerationOf } from './client-generation.js';
import type { RouteContext } from './context.js';
import { executeHeadersOf } from './execute-headers.js';
import { parse } from './parse.js';
import { rateLimited } from './rate-limiting.js';
import { traceOf } from './trace.js';

const headersSchema = z.object({ [durableRequestHeader]: durableRequestIdSchema });
const pathSchema = z.object({ id: durableRequestIdSchema });
const noBodySchema = z.strictObject({}).nullish();

/**
 * Durable requests, as LibreChat asks for them where the operator lets it: `GET
 * /v1/workspace-tools/capabilities`, `POST /v1/workspace-tools/requests`, `GET` and `DELETE
 * /v1/workspace-tools/requests/:id`. A bridge whose store keeps nothing says that it offers none.
 */
export function durableRequestRoutes(app: FastifyInstance, context: RouteContext): void {
  const { tokens, settings } = context;
  const onRequest = admit(tokens, 'caller');
  const statusOf = (request: FastifyRequest, view: DurableView) =>
    durableStatusOf(view, clientGenerationOf(request, settings.clientGeneration), context.laneRouting);

  app.get('/v1/workspace-tools/capabilities', { onRequest }, () => {
    return { durableWorkspaceRequests: context.durable === undefined ? 0 : 1 } satisfies DurableCapabilities;
  });

  const posting = { onRequest: [onRequest, rateLimited(context)], bodyLimit: limits.requestBodyBytes };
  app.post('/v1/workspace-tools/requests', posting, async (request, reply) => {
    const view = await submitted(request, context);
    void reply.header(callIdHeader, view.callId);
    return reply.status(202).send(statusOf(request, view));
  });

  app.get('/v1/workspace-tools/requests/:id', { onRequest }, async (request) => {
    const { id } = parse(pathSchema, request.params, 'path');
    return statusOf(request, known(id, await offered(context).view(principalOf(request), id)));
  });

  app.delete('/v1/workspace-tools/requests/:id', { onRequest }, async (request) => {
    const { id } = parse(pathSchema, request.params, 'path');
    parse(noBodySchema, request.body, 'body');
    const view = known(id, await offered(context).cancel(principalOf(request), id));
    return { ...statusOf(request, view), cancelRequested: true };
  });
}

async function submitted(request: FastifyRequest, context: RouteContext): Promise<DurableView> {
  const durable = offered(context);
  const { [durableRequestHeader]: requestId } = parse(headersSchema, request.headers, 'header');
  const { workerId: named, callId: proposed, queueWaitMs } = executeHeadersOf(request.headers);
  const sent = parse(workspaceToolRequestSchema, request.body, 'body');
  const principal = principalOf(request);
  // By what was sent: in which lane that lies may be another one when it is sent again.
  const workAt = (workerId: string) => {
    const fingerprint = fingerprintOfWork({ workerId, queueWaitMs, request: sent });
    return { fingerprint, callId: proposed ?? callIdOfWork({ principal, requestId, fingerprint }) };
  };
  const make = (worker: ChosenWorker): NewDurableRequest => {
    const { workerId, capabilities } = worker;
    const { request: toolRequest, pathPrefix } = context.laneRouting.laneRequestOf(capabilities, sent);
    assertAdvertised(capabilities, toolRequest);
    const { fingerprint, callId } = workAt(workerId);
    const terms = { ...worker, principal, callId, trace: traceOf(request), pathPrefix };
    return { requestId, fingerprint, queueWaitMs, call: newCallOf(toolRequest, terms) };
  };
  const enter = async (asked: NewDurableRequest): Promise<DurableView> => {
    const reply = await durable.submit(asked);
    if (reply.ok) return reply.view;
    throw refusalError(reply);
  };
  const isSame = ({ workerId, callId }: DurableView): boolean =>
    callId === workAt(workerId).callId && (named === undefined || named === workerId);
  try {
    return await enterAtChosenWorker(context, request, { named, make, enter });
  } catch (error) {
    // One that was taken in before may have run: it is not refused for what its worker is by now.
    const before = await durable.view(principal, requestId);
    if (before !== undefined && isSame(before)) return before;
    throw error;
  }
}

/** @throws CodelanesError `DURABLE_REQUESTS_NOT_OFFERED` */
function offered({ durable }: RouteContext): DurableRequests {
  if (durable !== undefined) return durable;
  throw new CodelanesError(
    'DURABLE_REQUESTS_NOT_OFFERED',
    'This bridge keeps what it knows in memory, so it offers no durable requests.',
  );
}

function known(requestId: string, view: DurableView | undefined): DurableView {
  if (view !== undefined) return view;
  throw new CodelanesError('REQUEST_NOT_FOUND', `This caller has no durable request ${requestId}.`);
}
