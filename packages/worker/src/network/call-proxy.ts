import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { OpenNetwork } from '../environment/network-policy.js';
import { admit, type Resolution } from './admission.js';
import { connectTo, idleTimeoutMs } from './connect.js';
import { DenialList, type Denials } from './denials.js';
import { fewAtOnce } from './few-lookups.js';
import { forward } from './forward.js';
import { NetworkRefusal } from './network-refusal.js';
import { RequestTurns } from './request-turns.js';
import { parseConnectTarget, parseRequestTarget, type Target } from './target.js';
import { splice } from './tunnel.js';

/** Connections that a call may have at once; further ones are closed at once. */
export const mostConnections = 128;
/** And so many once it has sent floods of requests. */
export const mostAfterFlood = 2;
/** Names that are resolved for a call at once: the threads that do it are shared by all calls of the worker. */
export const mostLookups = 4;
/** Bytes of a request's line and headers together. */
const maxHeaderBytes = 16 * 1024;
/** How long a client may take to send them, in milliseconds. */
const headersTimeoutMs = 10_000;

/**
 * The proxy of one call: it takes connections from a listener in the call's own network namespace, which nobody
 * else can reach, and makes those that the policy allows. Plain requests are forwarded one by one, `CONNECT` makes a
 * tunnel. Nothing of the content is looked at or kept.
 */
export class CallProxy {
  readonly #policy: OpenNetwork;
  readonly #resolution: Resolution;
  readonly #denials = new DenialList();
  readonly #sockets = new Set<Socket>();
  readonly #turns = new RequestTurns(() => {
    this.#onFlood();
  });
  readonly #http: HttpServer;
  #closed = false;

  /** @param headersMs How long a client may take to send what goes before a body, in milliseconds. */
  constructor(policy: OpenNetwork, resolution: Resolution, headersMs = headersTimeoutMs) {
    this.#policy = policy;
    this.#resolution = { ...resolution, lookup: fewAtOnce(resolution.lookup, mostLookups) };
    this.#http = createServer({
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersMs,
      // An upload may take its time; one that stands still is ended by the idle limit.
      requestTimeout: 0,
      connectionsCheckingInterval: 1_000,
      insecureHTTPParser: false,
    });
    this.#http.maxConnections = mostConnections;
    this.#http.timeout = idleTimeoutMs;
    this.#http.on('connection', (socket: Socket) => {
      this.#track(socket);
    });
    this.#http.on('request', (request, response) => {
      this.#turns.take(request.socket, response, () => void this.#onRequest(request, response));
    });
    this.#http.on('connect', (request, client, head) => void this.#onConnect(request, client, head));
  }

  /** Takes the listener over; it is closed with the proxy. */
  serve(listener: Server): void {
    this.#http.listen(listener);
  }

  /** Ends every connection at once, and says what was refused. */
  close(): Denials {
    this.#closed = true;
    this.#http.close();
    for (const socket of this.#sockets) socket.destroy();
    return this.#denials.all();
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const target = parseRequestTarget(request.url ?? '');
      if (target === undefined) throw malformed('http://host/path');
      const upstream = await this.#connect(target);
      if (response.destroyed) upstream.destroy();
      else forward(target, upstream, request, response);
    } catch (error) {
      const { status, text } = answerTo(error);
      // What is left of the body would be read as the next request.
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(text);
    }
  }

  async #onConnect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => undefined);
    try {
      const target = parseConnectTarget(request.url ?? '');
      if (target === undefined) throw malformed('CONNECT host:port');
      const upstream = await this.#connect(target);
      if (client.destroyed) upstream.destroy();
      else splice(client, upstream, head);
    } catch (error) {
      const { status, text } = answerTo(error);
      client.end(
        `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
        () => client.destroy(),
      );
    }
  }

  async #connect(target: Target): Promise<Socket> {
    try {
      const addresses = await admit(target, this.#policy, this.#resolution);
      return await connectTo(target, addresses, (socket) => {
        this.#track(socket);
      });
    } catch (error) {
      if (error instanceof NetworkRefusal && error.status === 403) this.#denials.add(error.message);
      throw error;
    }
  }

  /**
   * No client sends so much ahead, and Node reads through all of it whether or not it is wanted: what one call sends
   * would cost the calls of all other lanes their time. So it loses what it has open, and has little from then on.
   */
  #onFlood(): void {
    this.#http.maxConnections = mostAfterFlood;
    for (const socket of this.#sockets) socket.destroy();
  }

  #track(socket: Socket): void {
    if (this.#closed) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
    });
  }
}

function malformed(form: string): NetworkRefusal {
  return new NetworkRefusal(400, `The proxy understands \`${form}\` and takes no user name in it.`);
}

function answerTo(error: unknown): { status: number; text: string } {
  const refusal = error instanceof NetworkRefusal ? error : new NetworkRefusal(502, 'The proxy failed.');
  return { status: refusal.status, text: `codelanes: ${refusal.message}\n` };
}
