import {
  assertAdvertised,
  callIdHeader,
  CodelanesError,
  limits,
  workspaceToolRequestSchema,
} from '@codelanes/protocol';
import type { WorkspaceToolResult } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import { newCallOf } from '../dispatch/new-call.js';
import type { Sight } from '../dispatch/worker-sights.js';
import { admit, identityOf } from './admission.js';
import { chosenWorkerId, letIn } from './chosen-worker.js';
import { clientGenerationOf } from './client-generation.js';
import { connectionOf } from './connection-of.js';
import type { RouteContext } from './context.js';
import { executeHeadersOf } from './execute-headers.js';
import { parse } from './parse.js';
import { rateLimited } from './rate-limiting.js';
import { traceOf } from './trace.js';

/**
 * `POST /v1/workspace-tools/execute`: one call, answered when it has ended. Refused before it is queued:
 * what is malformed, and what the worker did not advertise.
 */
export function executeRoute(app: FastifyInstance, context: RouteContext): void {
  const { dispatcher, laneRouting, sights, tokens, settings } = context;
  const options = {
    onRequest: [admit(tokens, 'caller'), rateLimited(context)],
    bodyLimit: limits.requestBodyBytes,
  };
  app.post('/v1/workspace-tools/execute', options, async (request, reply) => {
    const connection = connectionOf(reply);
    const headers = executeHeadersOf(request.headers);
    const sent = parse(workspaceToolRequestSchema, request.body, 'body');
    const identity = identityOf(request);
    const workerId = await chosenWorkerId(context, identity, headers.workerId);
    const callSeen = (sight: Sight) => {
      const { capabilities } = letIn(request, workerId, sight);
      const { request: toolRequest, pathPrefix } = laneRouting.laneRequestOf(capabilities, sent);
      assertAdvertised(capabilities, toolRequest);
      const { principal } = identity;
      const { callId } = headers;
      const terms = { workerId, capabilities, principal, callId, trace: traceOf(request), pathPrefix };
      return { ...newCallOf(toolRequest, terms), grounds: sight.grounds };
    };
    const patience = { queueWaitMs: headers.queueWaitMs, callerGone: connection.gone };
    const { result, pathPrefix } = await sights.enter(workerId, callSeen, async (call) => {
      void reply.header(callIdHeader, call.callId);
      return { result: await dispatcher.run(call, patience), pathPrefix: call.pathPrefix };
    });
    const generation = clientGenerationOf(request, settings.clientGeneration);
    const shown = laneRouting.shownResult(result, { generation, pathPrefix });
    return reply.type('application/json').send(bodyOf(shown));
  });
}

function bodyOf(result: WorkspaceToolResult): string {
  const body = JSON.stringify(result);
  const bytes = Buffer.byteLength(body);
  if (bytes <= limits.resultBodyBytes) return body;
  throw new CodelanesError(
    'RESULT_INVALID',
    `The result has ${bytes} bytes, and clients take at most ${limits.resultBodyBytes}.`,
  );
}
