import type {
  ErrorCode,
  ProgrammaticCancelReply,
  ProgrammaticContinuation,
  ProgrammaticReply,
} from '@codelanes/protocol';
import {
  assertScriptAdvertised,
  callIdHeader,
  CodelanesError,
  limits,
  programmaticCancelSchema,
  programmaticContinuationSchema,
  programmaticRequestHeader,
  programmaticRequestSchema,
} from '@codelanes/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { callIdOfRequest, namedCallOf } from '../dispatch/continuations.js';
import { newCallOf } from '../dispatch/new-call.js';
import { scriptReply } from '../dispatch/script-reply.js';
import type { NewCall } from '../scheduler/stored-call.js';
import { admit, identityOf, principalOf } from './admission.js';
import { enterAtChosenWorker, namedWorker, type ChosenWorker } from './chosen-worker.js';
import { connectionOf } from './connection-of.js';
import type { RouteContext } from './context.js';
import { executeHeadersOf } from './execute-headers.js';
import { parse } from './parse.js';
import { programmaticLaneOf } from './programmatic-lane.js';
import { countRequest } from './rate-limiting.js';
import { runScriptRequestOf } from './run-script-request.js';
import { traceOf } from './trace.js';

/** Clients that know no lanes are in one by their base URL. */
const bases = ['/v1', '/v1/workspaces/:workspaceId/lanes/:worktree'];

const requestIdSchema = z.object({ [programmaticRequestHeader]: z.string().min(1).max(128).optional() });
const continuesSchema = z.looseObject({
  continuation_token: z.unknown().refine((token) => token !== undefined),
});

/**
 * `POST …/exec/programmatic`: begins a script, or lets one go on that waits for tools; answered at its end or when it
 * waits for tools. `POST …/exec/programmatic/cancel`: stops what a request of that name does. `POST …/exec`, which runs
 * code in no workspace, is refused.
 */
export function programmaticRoutes(app: FastifyInstance, context: RouteContext): void {
  const onRequest = admit(context.tokens, 'caller');
  const running = {
    onRequest,
    bodyLimit: limits.programmaticBodyBytes,
  };
  for (const base of bases) {
    app.post(`${base}/exec/programmatic`, running, (request, reply) =>
      (continuesSchema.safeParse(request.body).success ? goOn : begin)(request, reply, context).catch(
        rethrowForModels,
      ),
    );
    app.post(`${base}/exec/programmatic/cancel`, { onRequest }, async (request, reply) => {
      const { request_id: requestId } = parse(programmaticCancelSchema, request.body, 'body');
      const isAsked = await context.continuations.cancel({ principal: principalOf(request), requestId });
      const status = isAsked ? 'cancellation_requested' : 'already_completed';
      return reply.status(isAsked ? 202 : 200).send({ status } satisfies ProgrammaticCancelReply);
    });
    app.post(`${base}/exec`, { onRequest }, () => {
      throw new CodelanesError(
        'UNSUPPORTED_CAPABILITY',
        'Code runs in attached workspaces only: select one, and send it to exec/programmatic.',
      );
    });
  }
}

async function begin(
  request: FastifyRequest,
  reply: FastifyReply,
  context: RouteContext,
): Promise<ProgrammaticReply> {
  // Not before the body is read: a script that has begun goes on by a token of its own, which is good for one time.
  countRequest(context, request);
  const connection = connectionOf(reply);
  const principal = principalOf(request);
  const { workerId: named, callId: proposed, queueWaitMs } = executeHeadersOf(request.headers);
  const requestId = requestIdOf(request);
  const callId = requestId === undefined ? proposed : callIdOfRequest(principal, requestId);
  const body = parse(programmaticRequestSchema, request.body, 'body');
  const script = runScriptRequestOf(body, programmaticLaneOf(request, body));
  const make = (worker: ChosenWorker): NewCall => {
    assertScriptAdvertised(worker.capabilities, script);
    return newCallOf(script, { ...worker, principal, callId, trace: traceOf(request) });
  };
  const patience = { queueWaitMs, callerGone: connection.gone };
  const enter = (call: NewCall): Promise<ProgrammaticReply> => {
    void reply.header(callIdHeader, call.callId);
    return scriptReply(call.callId, context.dispatcher.runScript(call, patience));
  };
  return enterAtChosenWorker(context, request, { named, make, enter });
}

async function goOn(
  request: FastifyRequest,
  reply: FastifyReply,
  { continuations }: RouteContext,
): Promise<ProgrammaticReply> {
  const connection = connectionOf(reply);
  const identity = identityOf(request);
  const workerId = namedWorker(identity, executeHeadersOf(request.headers).workerId);
  const asking = { principal: identity.principal, requestId: requestIdOf(request) };
  const continuation: ProgrammaticContinuation = parse(programmaticContinuationSchema, request.body, 'body');
  const callId = namedCallOf(continuation);
  void reply.header(callIdHeader, callId);
  const asker = { principal: identity.principal, workerId };
  const end = continuations
    .find(asker, continuation)
    .then((script) => continuations.goOn(asking, script, connection.gone));
  return scriptReply(callId, end);
}

function requestIdOf(request: FastifyRequest): string | undefined {
  return parse(requestIdSchema, request.headers, 'header')[programmaticRequestHeader];
}

/** What no repetition mends; of these refusals some have a status that the SDK of LibreChat tells models to repeat. */
const permanent: ReadonlySet<ErrorCode> = new Set([
  'WORKER_MISMATCH',
  'WORKSPACE_QUARANTINED',
  'WORKSPACE_SETUP_FAILED',
  'REGISTRATION_INVALID',
  'COMMAND_DISABLED',
]);

/** The SDK shows models no sentence of a bridge; by this code it tells them not to try again. */
function rethrowForModels(error: unknown): never {
  if (!CodelanesError.is(error) || !permanent.has(error.code)) throw error;
  throw new CodelanesError('BRIDGE_WORKER_MISMATCH', error.message, { cause: error });
}
