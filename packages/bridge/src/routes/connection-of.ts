import type { FastifyReply } from 'fastify';
import type { Connection } from '../dispatch/connection.js';

/** The other end of a request, watched until it is answered. */
export function connectionOf(reply: FastifyReply): Connection {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return {
    gone: controller.signal,
    isOpen: () => !controller.signal.aborted && reply.raw.socket?.destroyed === false,
  };
}
