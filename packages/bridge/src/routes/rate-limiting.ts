import type { onRequestHookHandler } from 'fastify';
import { RateLimited } from '../auth/rate-limit.js';
import { principalOf } from './admission.js';
import type { RouteContext } from './context.js';

/**
 * Counts a request of its principal, before anything of its body is read; comes after `admit`.
 *
 * @throws RateLimited where the principal has sent too many.
 */
export function rateLimited({ rateLimit, metrics }: RouteContext): onRequestHookHandler {
  return (request, _reply, done) => {
    try {
      rateLimit?.take(principalOf(request));
    } catch (error) {
      if (error instanceof RateLimited) metrics.rateLimited();
      throw error;
    }
    done();
  };
}
