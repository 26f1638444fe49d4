import type { ReportReply } from '@codelanes/protocol';
import { CodelanesError, reportRequestSchema, workerWireVersion } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import type { RouteContext } from './context.js';
import { parseWorkerBody } from './parse.js';
import { admitWorker } from './worker-admission.js';
import { workerIdOf } from './worker-path.js';

/** `POST /v1/workers/:id/report`: what became of assignments that the worker fetched. */
export function workerReportRoute(app: FastifyInstance, context: RouteContext): void {
  const { store } = context;
  app.post('/v1/workers/:id/report', admitWorker(context), async (request) => {
    const workerId = workerIdOf(request);
    const { incarnationId, reports } = parseWorkerBody(reportRequestSchema, request.body);
    const reported = await store.report({ workerId, incarnationId }, reports);
    if ('error' in reported) throw new CodelanesError(reported.error.code, reported.error.message);
    return { version: workerWireVersion, fenced: [...reported.fenced] } satisfies ReportReply;
  });
}
