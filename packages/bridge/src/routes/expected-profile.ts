import { CodelanesError, expectedProfileHeader, profileHeader } from '@codelanes/protocol';
import type { onRequestHookHandler } from 'fastify';
import type { RouteSettings } from './context.js';
import { malformed } from './parse.js';

/**
 * Refuses a request of a LibreChat that expects another kind of service behind this base URL; who says nothing of
 * it is let pass. The code is one by which its model knows not to try again.
 *
 * @throws CodelanesError `EXECUTION_PROFILE_MISMATCH`, `MALFORMED_REQUEST`.
 */
export function expectedProfile({ profile }: Pick<RouteSettings, 'profile'>): onRequestHookHandler {
  return (request, reply, done) => {
    const expected = request.headers[expectedProfileHeader];
    if (expected === undefined) {
      done();
      return;
    }
    void reply.header(profileHeader, profile);
    if (expected !== 'stateful' && expected !== 'default') {
      throw malformed(`header ${expectedProfileHeader}: expected "stateful" or "default"`);
    }
    if (expected !== profile) {
      throw new CodelanesError(
        'EXECUTION_PROFILE_MISMATCH',
        `The caller expects the execution profile "${expected}", and this is the service for "${profile}".`,
      );
    }
    done();
  };
}
