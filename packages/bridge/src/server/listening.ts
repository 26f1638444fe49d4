import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TlsKeys } from './open-tls.js';

/** How the bridge takes connections. */
export interface Listening {
  /** Left out, it speaks plain HTTP. */
  readonly tls: TlsKeys | undefined;
  /** Reading a whole request may not take longer; long polls wait with the answer, not with the request. */
  readonly requestTimeoutMs: number;
}

/** How long a connection without a request is kept; longer than the worker's and most proxies keep theirs. */
const keepAliveMs = 72_000;

/** The HTTP or HTTPS server beneath the routes. */
export function listening({ tls, requestTimeoutMs }: Listening) {
  return (handler: (request: IncomingMessage, response: ServerResponse) => void): Server => {
    const options = {
      keepAliveTimeout: keepAliveMs,
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(30_000, Math.ceil(requestTimeoutMs / 2)),
    };
    return tls === undefined
      ? createServer(options, handler)
      : createTlsServer({ ...options, ...tls }, handler);
  };
}
