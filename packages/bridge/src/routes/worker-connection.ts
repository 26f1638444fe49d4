import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Connection } from '../dispatch/connection.js';
import { connectionOf } from './connection-of.js';
import type { RouteContext } from './context.js';

/** The other end of a worker's request; a paired one is gone, too, once its pairing has ended. */
export function workerConnectionOf(
  { proof }: FastifyRequest,
  reply: FastifyReply,
  { pairings }: Pick<RouteContext, 'pairings'>,
): Connection {
  const connection = connectionOf(reply);
  if (proof === null) return connection;
  const gone = new AbortController();
  const end = () => {
    gone.abort();
  };
  connection.gone.addEventListener('abort', end, { once: true });
  reply.raw.once('close', pairings.onEnd(proof.workerId, proof.enrolment.id, end));
  return { gone: gone.signal, isOpen: () => connection.isOpen() && !gone.signal.aborted };
}
