import type { IssuedCredential, PairingReply, RevokeReply } from '@codelanes/protocol';
import { pairingRequestSchema, redeemRequestSchema, refreshRequestSchema } from '@codelanes/protocol';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { RateLimit } from '../auth/rate-limit.js';
import { admit } from './admission.js';
import type { RouteContext } from './context.js';
import { malformed, parse } from './parse.js';
import { admitWorker } from './worker-admission.js';
import { workerIdOf } from './worker-path.js';

const noBodySchema = z.object({}).nullish();

/** Whoever redeems has no name yet but its address. */
const redemptions = { calls: 30, windowMs: 60_000 };

const smallBody = { bodyLimit: 16 * 1024 };

/**
 * `POST /v1/bridge/pairings`, `…/pairings/redeem`, `/v1/bridge/workers/:id/credentials/refresh` and
 * `…/revoke`: how a machine becomes a worker, stays one, and is sent away.
 */
export function pairingRoutes(app: FastifyInstance, context: RouteContext): void {
  const { tokens, pairings, settings } = context;
  const ofAdmin = { ...smallBody, onRequest: admit(tokens, 'admin') };

  app.post('/v1/bridge/pairings', ofAdmin, async (request) => {
    const { workerId, binding } = parse(pairingRequestSchema, request.body, 'body');
    if (binding === undefined && settings.requireBinding) {
      throw malformed('body.binding: expected for whom the worker works, as this bridge serves several');
    }
    request.log.warn({ workerId, binding }, 'a pairing code was made');
    if (!pairings.areLasting) {
      request.log.warn('the pairings of this bridge end with its process, as it has no file for them');
    }
    return (await pairings.offer(workerId, binding)) satisfies PairingReply;
  });

  app.post('/v1/bridge/workers/:id/revoke', ofAdmin, async (request) => {
    const workerId = workerIdOf(request);
    parse(noBodySchema, request.body, 'body');
    await pairings.revoke(workerId);
    request.log.warn({ workerId }, 'a worker was revoked');
    return { protocolVersion: 1, revoked: true } satisfies RevokeReply;
  });

  const limit = new RateLimit(redemptions);
  app.post('/v1/bridge/pairings/redeem', smallBody, async (request) => {
    limit.take(request.ip);
    const redeemed = await pairings.redeem(parse(redeemRequestSchema, request.body, 'body'));
    request.log.warn({ workerId: redeemed.workerId }, 'a worker was paired');
    return redeemed;
  });

  const refreshing = { ...smallBody, ...admitWorker(context), config: { takesExpiredCredential: true } };
  app.post('/v1/bridge/workers/:id/credentials/refresh', refreshing, async (request) => {
    parse(refreshRequestSchema, request.body, 'body');
    const { proof } = request;
    if (proof === null)
      throw malformed('only a paired worker has a credential; this one has the token for workers');
    return (await pairings.refresh(
      proof.workerId,
      proof.enrolment.id,
      proof.credential,
    )) satisfies IssuedCredential;
  });
}
