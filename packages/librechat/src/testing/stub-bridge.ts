import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { text } from 'node:stream/consumers';

/** A reply of the stub; a body that is no string is sent as JSON. */
export interface StubReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sends the body and never ends it. */
  readonly endless?: boolean;
}

export interface StubRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server on 127.0.0.1 that says what a test wants it to say, one reply per request, and the last one for ever. */
export class StubBridge {
  readonly requests: StubRequest[] = [];
  readonly #server: Server;
  #replies: readonly StubReply[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        this.requests.push({ method: request.method, path: request.url, headers: request.headers, body });
        const last = this.#replies.length - 1;
        const reply = this.#replies[Math.min(this.requests.length - 1, last)] ?? { status: 404 };
        response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
        const sent = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {});
        if (reply.endless === true) response.write(sent);
        else response.end(sent);
      });
    });
  }

  static async start(...replies: readonly StubReply[]): Promise<StubBridge> {
    const stub = new StubBridge();
    stub.#replies = replies;
    stub.#server.listen(0, '127.0.0.1');
    await once(stub.#server, 'listening');
    return stub;
  }

  get baseURL(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The stub does not listen.');
    return `http://127.0.0.1:${address.port}/v1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
