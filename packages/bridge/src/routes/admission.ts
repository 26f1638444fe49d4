import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Identity, Kind } from '../auth/identity.js';
import type { Tokens } from '../auth/tokens.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; `null` on routes that need no token. */
    identity: Identity | null;
  }
}

/**
 * Lets a request in only with a token of one of these kinds, before anything of its body is read.
 *
 * @throws CodelanesError `UNAUTHENTICATED`, `FORBIDDEN`, `SIGNING_KEYS_UNAVAILABLE`.
 */
export function admit(tokens: Tokens, ...allowed: readonly Kind[]): onRequestHookHandler {
  return (request, _reply, done) => {
    const admitted = tokens.admit(request.headers.authorization, allowed);
    if (!(admitted instanceof Promise)) {
      request.identity = admitted;
      done();
      return;
    }
    admitted.then((identity) => {
      request.identity = identity;
      done();
    }, done);
  };
}

/** Who sent a request that was let in. */
export function identityOf(request: FastifyRequest): Identity {
  if (request.identity !== null) return request.identity;
  throw new Error('A route that needs a principal lets everybody in.');
}

/** The principal of a request that was let in. */
export function principalOf(request: FastifyRequest): string {
  return identityOf(request).principal;
}
