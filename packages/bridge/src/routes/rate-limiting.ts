import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { RateLimited } from '../auth/rate-limit.js';
import { principalOf } from './admission.js';
import type { RouteContext } from './context.js';

type Counting = Pick<RouteContext, 'rateLimit' | 'metrics'>;

/** As `countRequest`, before anything of the body is read; comes after `admit`. */
export function rateLimited(counting: Counting): onRequestHookHandler {
  return (request, _reply, done) => {
    countRequest(counting, request);
    done();
  };
}

/**
 * Counts a request of its principal.
 *
 * @throws RateLimited where the principal has sent too many.
 */
export function countRequest({ rateLimit, metrics }: Counting, request: FastifyRequest): void {
  try {
    rateLimit?.take(principalOf(request));
  } catch (error) {
    if (error instanceof RateLimited) metrics.rateLimited();
    throw error;
  }
}
