import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { errorReply } from '../routes/error-reply.js';
import { malformed } from '../routes/parse.js';

const faults: Readonly<Record<string, string>> = {
  HPE_INVALID_EOF_STATE: 'it ended before it was whole',
  HPE_HEADER_OVERFLOW: 'its headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'it did not arrive in time',
};

/** Answers what is no HTTP request, has too large headers or never ends, tells of it once, and ends the connection. */
export function refuseUnreadable(
  this: Pick<FastifyInstance, 'log'>,
  error: Error & { readonly code?: string },
  socket: Socket,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const why = faults[error.code ?? ''] ?? 'it is not HTTP/1.1';
  const { status, body } = errorReply(malformed(why), 'own');
  this.log.warn({ code: body.code, why, from: socket.remoteAddress }, 'turned away');
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}
