import type { FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify';
import { WorkerProof } from '../pairing/worker-proof.js';
import { admit } from './admission.js';
import type { RouteContext } from './context.js';
import { workerIdOf } from './worker-path.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a paired worker may ask with a credential that has expired, as it does for a new one. */
    takesExpiredCredential?: boolean;
  }
  interface FastifyRequest {
    /** Of a paired worker's request; it has no identity before its proof holds over its body. */
    proof: WorkerProof | null;
  }
}

export interface WorkerAdmission {
  readonly onRequest: onRequestHookHandler;
  readonly preValidation: preValidationHookHandler;
}

const noBody = new Uint8Array();

/**
 * Lets a worker in: by the token of this bridge for workers, or by the proof of the paired worker that the path
 * names, of which the body is a part.
 *
 * @throws CodelanesError `UNAUTHENTICATED`, `FORBIDDEN`, and what `WorkerProof` says of itself.
 */
export function admitWorker({
  tokens,
  pairings,
}: Pick<RouteContext, 'tokens' | 'pairings'>): WorkerAdmission {
  const byToken = admit(tokens, 'worker');
  return {
    onRequest(request, reply, done) {
      if (!/^Bridge\b/i.test(request.headers.authorization ?? '')) {
        byToken.call(this, request, reply, done);
        return;
      }
      WorkerProof.begin(provingRequestOf(request), pairings).then((proof) => {
        request.proof = proof;
        done();
      }, done);
    },
    preValidation(request, _reply, done) {
      // A body was proven while it was parsed; where none came, that is what was signed.
      if (request.proof === null || request.proof.isProven) {
        done();
        return;
      }
      prove(request, noBody).then(() => {
        done();
      }, done);
    },
  };
}

/** Gives a paired worker its identity where its proof holds over the bytes of the body. */
export async function prove(request: FastifyRequest, body: Uint8Array): Promise<void> {
  const { proof } = request;
  if (proof === null) return;
  const { takesExpiredCredential: takesExpired = false } = request.routeOptions.config;
  await proof.over(body, { takesExpired });
  const { workerId, enrolment } = proof;
  request.identity = { kind: 'worker', principal: workerId, enrolmentId: enrolment.id };
}

function provingRequestOf(request: FastifyRequest) {
  const { method, url: target, headers } = request;
  return { workerId: workerIdOf(request), method, target, headers };
}
