import type { Socket } from 'node:net';
import { errorReply } from '../routes/error-reply.js';
import { malformed } from '../routes/parse.js';

const faults: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'its headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'it did not arrive in time',
};

/** Answers what is no HTTP request, has too large headers or never ends, and ends the connection. */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const fault = faults[error.code ?? ''] ?? 'it is not HTTP/1.1';
  const { status, body } = errorReply(malformed(fault), 'own');
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}
