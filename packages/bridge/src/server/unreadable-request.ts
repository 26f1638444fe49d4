import { CodelanesError } from '@codelanes/protocol';
import type { Socket } from 'node:net';
import { errorReply } from '../routes/error-reply.js';

/** Answers what is no HTTP request at all, or one with too large headers, and ends the connection. */
export function refuseUnreadable(_error: Error, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const fault = new CodelanesError(
    'MALFORMED_REQUEST',
    'The request is malformed: it is not HTTP/1.1, or its headers are too large.',
  );
  const { status, body } = errorReply(fault, 'own');
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}
