import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CodelanesError, limits } from '@codelanes/protocol';
import { fastify, LogController } from 'fastify';
import { randomUUID } from 'node:crypto';
import { callRoute } from '../routes/call.js';
import { cancelRoute } from '../routes/cancel.js';
import { clientGenerationOf } from '../routes/client-generation.js';
import type { RouteContext } from '../routes/context.js';
import { errorReply } from '../routes/error-reply.js';
import { executeRoute } from '../routes/execute.js';
import { refusalOf, routeNotFound } from '../routes/foreign-error.js';
import { healthRoute } from '../routes/health.js';
import { lanesRoute } from '../routes/lanes.js';
import { workerPollRoute } from '../routes/worker-poll.js';
import { workerRegisterRoute } from '../routes/worker-register.js';
import { workerRenewRoute } from '../routes/worker-renew.js';
import { workerReportRoute } from '../routes/worker-report.js';
import { workerSettleRoute } from '../routes/worker-settle.js';
import { workerStatusRoute } from '../routes/worker-status.js';
import { workersRoute } from '../routes/workers.js';
import { refuseUnreadable } from './unreadable-request.js';

const routes = [
  healthRoute,
  workerStatusRoute,
  executeRoute,
  callRoute,
  lanesRoute,
  workersRoute,
  cancelRoute,
  workerRegisterRoute,
  workerPollRoute,
  workerReportRoute,
  workerRenewRoute,
  workerSettleRoute,
];

/** Reading a whole request may not take longer; long polls wait with the answer, not with the request. */
const requestTimeoutMs = 60_000;

/** The HTTP side of a bridge: every route, and a reply with a code of the table to everything else. */
export function createHttpServer(context: RouteContext, logger: FastifyBaseLogger): FastifyInstance {
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: () => randomUUID(),
    bodyLimit: limits.requestBodyBytes,
    requestTimeout: requestTimeoutMs,
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
  app.decorateRequest('identity', null);
  app.setNotFoundHandler(() => {
    throw routeNotFound();
  });
  app.setErrorHandler((error, request, reply) => {
    replyWithError(context, error, request, reply);
  });
  logRequests(app);
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
  request.log.debug({ code: body.code }, 'refused');
  void reply.status(status).headers(headers).send(body);
}

/** One line per request; never a body, a token, a query or a path of files. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'answered',
    );
    done();
  });
}
