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
import type { NewToolCall } from '../scheduler/stored-call.js';
import { admit, principalOf } from './admission.js';
import { enterAtChosenWorker, type ChosenWorker } from './chosen-worker.js';
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
  const { dispatcher, laneRouting, tokens, settings } = context;
  const options = {
    onRequest: [admit(tokens, 'caller'), rateLimited(context)],
    bodyLimit: limits.requestBodyBytes,
  };
  app.post('/v1/workspace-tools/execute', options, async (request, reply) => {
    const connection = connectionOf(reply);
    const sent = parse(workspaceToolRequestSchema, request.body, 'body');
    const { workerId: named, callId, queueWaitMs } = executeHeadersOf(request.headers);
    const principal = principalOf(request);
    const make = (worker: ChosenWorker) => {
      const { request: toolRequest, pathPrefix } = laneRouting.laneRequestOf(worker.capabilities, sent);
      assertAdvertised(worker.capabilities, toolRequest);
      const trace = traceOf(request);
      return newCallOf(toolRequest, { ...worker, principal, callId, trace, pathPrefix });
    };
    const patience = { queueWaitMs, callerGone: connection.gone };
    const enter = async (call: NewToolCall) => {
      void reply.header(callIdHeader, call.callId);
      return { result: await dispatcher.run(call, patience), pathPrefix: call.pathPrefix };
    };
    const { result, pathPrefix } = await enterAtChosenWorker(context, request, { named, make, enter });
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
