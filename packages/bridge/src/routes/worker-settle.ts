import { setImmediate as afterThisTurn } from 'node:timers/promises';
import type { Settlement, SettleReply } from '@codelanes/protocol';
import { limits, settleRequestSchema, workerWireVersion } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { RouteContext } from './context.js';
import { faultOf, malformed, parseWorkerBody } from './parse.js';
import { admitWorker } from './worker-admission.js';
import { workerIdOf } from './worker-path.js';

/**
 * JSON may need several bytes for one of a result, so that a lawful result can be larger here than a client
 * takes it; the caller is told, instead of waiting for a settlement that cannot be sent. Files of scripts come beside.
 */
const settleBodyBytes = 2 * limits.resultBodyBytes + limits.programmaticBodyBytes;

const settlementSchema = settleRequestSchema.shape.settlement;

/** Everything but the settlement, which is judged once it is known whose it is. */
const envelopeSchema = settleRequestSchema.extend({ settlement: z.unknown() });

/**
 * `POST /v1/workers/:id/settle`: ends a call with the worker's word, or pauses its script.
 * A settlement that breaks the protocol ends the call too, as `RESULT_INVALID`: its caller need not wait for
 * the lease to run out.
 */
export function workerSettleRoute(app: FastifyInstance, context: RouteContext): void {
  const options = { ...admitWorker(context), bodyLimit: settleBodyBytes };
  app.post('/v1/workers/:id/settle', options, async (request) => {
    const workerId = workerIdOf(request);
    const envelope = parseWorkerBody(envelopeSchema, request.body);
    const worker = { workerId, incarnationId: envelope.incarnationId };
    const parsed = settlementSchema.safeParse(envelope.settlement);
    if (!parsed.success) {
      const fault = faultOf(parsed.error, 'body.settlement');
      await context.polls.settle(worker, envelope.lease, invalidResult(fault));
      throw malformed(fault);
    }
    const { accepted, timing } = await context.polls.settle(worker, envelope.lease, parsed.data);
    if (timing !== undefined) context.metrics.settled(timing, envelope.ranMs);
    // The caller waits for this result, the worker does not: its reply is written after the caller's.
    await afterThisTurn();
    return { version: workerWireVersion, accepted } satisfies SettleReply;
  });
}

function invalidResult(fault: string): Settlement {
  return {
    status: 'rejected',
    error: { code: 'RESULT_INVALID', message: `The worker's settlement breaks the protocol: ${fault}.` },
  };
}
