import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { passedOn } from './headers.js';
import type { RequestTarget } from './target.js';

/** Bytes of an answer's headers. */
const maxAnswerHeaderBytes = 64 * 1024;

/**
 * Sends one plain request on over this connection, and its answer back. Method, path, end-to-end headers and body
 * are the client's; the `Host` is the target's own, whatever the client claimed, and the framing is made anew, so
 * that the other side cannot read another request out of it than the one that was checked.
 */
export function forward(
  target: RequestTarget,
  connection: Socket,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  response.once('close', () => {
    connection.destroy();
  });
  const upstream = httpRequest({
    createConnection: () => connection,
    method: request.method,
    path: target.path,
    headers: requestHeaders(target, request),
    setHost: false,
    maxHeaderSize: maxAnswerHeaderBytes,
    insecureHTTPParser: false,
  });
  const fail = (): void => {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response
      .writeHead(502, { 'content-type': 'text/plain', connection: 'close' })
      .end('codelanes: The other side broke off or sent no valid answer.\n');
  };
  upstream.on('error', fail);
  // No protocol was offered to change to; Node ends an answer that changes it all the same, and says so by this alone.
  upstream.on('close', () => {
    if (!response.headersSent) fail();
  });
  upstream.on('response', (answer) => {
    try {
      response.writeHead(answer.statusCode ?? 502, passedOn(answer));
    } catch {
      // Node reads headers that it would not write.
      fail();
      return;
    }
    pipeline(answer, response, () => undefined);
  });
  pipeline(request, upstream, () => undefined);
}

function requestHeaders(target: RequestTarget, request: IncomingMessage): Record<string, string | string[]> {
  const chunked = request.headers['transfer-encoding'] !== undefined;
  return {
    ...passedOn(request),
    host: target.authority,
    connection: 'close',
    ...(chunked ? { 'transfer-encoding': 'chunked' } : {}),
  };
}
