import type { PollReply } from '@codelanes/protocol';
import { pollRequestSchema, pollStreamType, workerWireVersion } from '@codelanes/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Polled } from '../dispatch/worker-polls.js';
import type { RouteContext } from './context.js';
import { parseWorkerBody } from './parse.js';
import { admitWorker } from './worker-admission.js';
import { workerConnectionOf } from './worker-connection.js';
import { workerIdOf } from './worker-path.js';

/** The second is for a proxy that would collect lines before it passes them on. */
const streamHeaders = { 'content-type': pollStreamType, 'x-accel-buffering': 'no' };

/** `POST /v1/workers/:id/poll`: the worker's long poll for assignments and cancellations. */
export function workerPollRoute(app: FastifyInstance, context: RouteContext): void {
  const { polls } = context;
  app.post('/v1/workers/:id/poll', admitWorker(context), async (request, reply) => {
    const workerId = workerIdOf(request);
    const { incarnationId, registrationId, waitMs, stream } = parseWorkerBody(
      pollRequestSchema,
      request.body,
    );
    const worker = { workerId, incarnationId, registrationId };
    const connection = workerConnectionOf(request, reply, context);
    if (stream !== true) return replyOf(await polls.poll(worker, waitMs, connection));
    await sendEach(reply, polls.batches(worker, waitMs, connection, { hints: true }));
    return reply;
  });
}

function replyOf({ heldMs, assignments, cancellations, expected }: Polled): PollReply {
  return {
    version: workerWireVersion,
    heldMs,
    assignments: [...assignments],
    cancellations: [...cancellations],
    ...(expected.length === 0 ? {} : { expected: [...expected] }),
  };
}

/** Every batch as a line. A poll that fails at once is refused as usual; later the next poll meets the fault. */
async function sendEach(reply: FastifyReply, batches: AsyncGenerator<Polled>): Promise<void> {
  const { raw } = reply;
  try {
    for await (const batch of batches) {
      if (!raw.headersSent) begin(reply);
      raw.write(`${JSON.stringify(replyOf(batch))}\n`);
    }
  } catch (error) {
    if (!raw.headersSent) throw error;
    reply.log.warn({ err: error }, 'a poll was ended early');
  }
  raw.end();
}

function begin(reply: FastifyReply): void {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.writeHead(200, streamHeaders);
}
