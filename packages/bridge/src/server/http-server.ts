import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '@codelanes/protocol';
import { callIdHeader, CodelanesError, limits, requestIdHeader } from '@codelanes/protocol';
import { fastify, LogController } from 'fastify';
import { callRoute } from '../routes/call.js';
import { cancelRoute } from '../routes/cancel.js';
import { clientGenerationOf } from '../routes/client-generation.js';
import type { RouteContext } from '../routes/context.js';
import { errorReply } from '../routes/error-reply.js';
import { expectedProfile } from '../routes/expected-profile.js';
import { durableRequestRoutes } from '../routes/durable-requests.js';
import { executeRoute } from '../routes/execute.js';
import { refusalOf, routeNotFound } from '../routes/foreign-error.js';
import { healthRoute } from '../routes/health.js';
import { lanesRoute } from '../routes/lanes.js';
import { metricsRoute } from '../routes/metrics.js';
import { pairingRoutes } from '../routes/pairings.js';
import { programmaticRoutes } from '../routes/programmatic.js';
import { requestIdOf } from '../routes/trace.js';
import { workerPollRoute } from '../routes/worker-poll.js';
import { workerRegisterRoute } from '../routes/worker-register.js';
import { workerRenewRoute } from '../routes/worker-renew.js';
import { workerReportRoute } from '../routes/worker-report.js';
import { workerSettleRoute } from '../routes/worker-settle.js';
import { workerStatusRoute } from '../routes/worker-status.js';
import { workersRoute } from '../routes/workers.js';
import { listening, type Listening } from './listening.js';
import { parseProvenJson } from './proven-json.js';
import { refuseUnreadable } from './unreadable-request.js';

/** Refusals of who asks, not of what; and of more than anybody may send. */
const turnedAway: ReadonlySet<ErrorCode> = new Set([
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'WORKER_UNAUTHORIZED',
  'CREDENTIAL_EXPIRED',
  'CLOCK_SKEWED',
  'PROOF_REPLAYED',
  'PAIRING_INVALID',
  'BODY_TOO_LARGE',
]);

const routes = [
  healthRoute,
  metricsRoute,
  workerStatusRoute,
  executeRoute,
  durableRequestRoutes,
  programmaticRoutes,
  callRoute,
  lanesRoute,
  workersRoute,
  cancelRoute,
  workerRegisterRoute,
  workerPollRoute,
  workerReportRoute,
  workerRenewRoute,
  workerSettleRoute,
  pairingRoutes,
];

/** The HTTP side of a bridge: every route, and a reply with a code of the table to everything else. */
export function createHttpServer(
  context: RouteContext,
  logger: FastifyBaseLogger,
  how: Listening,
): FastifyInstance {
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    bodyLimit: limits.requestBodyBytes,
    serverFactory: listening(how),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    // Ids have up to 128 characters, each of which may come percent-encoded.
    routerOptions: { maxParamLength: 3 * limits.idLength },
    frameworkErrors: (error, request, reply) => {
      replyWithError(context, error, request, reply);
    },
    clientErrorHandler: refuseUnreadable,
  });
  app.removeContentTypeParser('text/plain');
  parseProvenJson(app);
  app.decorateRequest('identity', null);
  app.decorateRequest('proof', null);
  app.setNotFoundHandler(() => {
    throw routeNotFound();
  });
  app.setErrorHandler((error, request, reply) => {
    replyWithError(context, error, request, reply);
  });
  logRequests(app);
  app.addHook('onRequest', expectedProfile(context.settings));
  for (const route of routes) route(app, context);
  return app;
}

function replyWithError(
  { settings }: RouteContext,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const refusal = refusalOf(error, request.routeOptions.bodyLimit);
  if (refusal === undefined) request.log.error({ err: error }, 'the bridge failed');
  const known =
    refusal ?? new CodelanesError('INTERNAL_FAULT', `The bridge failed at request ${request.id}.`);
  const { status, headers, body } = errorReply(known, clientGenerationOf(request, settings.clientGeneration));
  logRefusal(request, known);
  // A client that is cut off while it still sends a body never reads why: the rest is thrown away instead.
  if (body.code === 'BODY_TOO_LARGE') void reply.removeHeader('connection');
  void reply.status(status).headers(headers).send(body);
}

/** Who is turned away is told of once, with what the reply leaves out; never with what was sent. */
function logRefusal(request: FastifyRequest, refusal: CodelanesError): void {
  const { code, message, cause } = refusal;
  if (!turnedAway.has(code)) {
    request.log.debug({ code }, 'refused');
    return;
  }
  const why = cause instanceof Error ? cause.message : message;
  request.log.warn({ code, why, route: request.routeOptions.url, from: request.ip }, 'turned away');
}

/** One line per request; never a body, a token, a query or a path of files. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(requestIdHeader, request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        callId: reply.getHeader(callIdHeader),
      },
      'answered',
    );
    done();
  });
}
