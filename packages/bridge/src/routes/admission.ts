import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Identity, StaticTokens, TokenKind } from '../auth/static-tokens.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; `null` on routes that need no token. */
    identity: Identity | null;
  }
}

/**
 * Lets a request in only with a token of one of these kinds, before anything of its body is read.
 *
 * @throws CodelanesError `UNAUTHENTICATED` or `FORBIDDEN`.
 */
export function admit(tokens: StaticTokens, ...allowed: readonly TokenKind[]): onRequestHookHandler {
  return (request, _reply, done) => {
    request.identity = tokens.admit(request.headers.authorization, allowed);
    done();
  };
}

/** The principal of a request that was let in. */
export function principalOf(request: FastifyRequest): string {
  if (request.identity === null) throw new Error('A route that needs a principal lets everybody in.');
  return request.identity.principal;
}
