import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { text } from 'node:stream/consumers';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Without those of the transport, which say nothing of the client. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface RecordedReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** What a bridge would answer; one that never answers keeps the client waiting. */
export type Answering = (request: RecordedRequest) => Promise<RecordedReply> | RecordedReply;

const ofTransport = new Set([
  'host',
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'transfer-encoding',
]);

/** A server on 127.0.0.1 that keeps every request as a client sent it, and answers as a test says. */
export class RecordingBridge {
  readonly requests: RecordedRequest[] = [];
  readonly #server: Server;

  private constructor(answer: Answering) {
    this.#server = createServer((request, response) => {
      void text(request).then(async (body) => {
        const recorded = {
          method: request.method ?? '',
          path: request.url ?? '',
          headers: kept(request.headers),
          body: parsed(body),
        };
        this.requests.push(recorded);
        const reply = await answer(recorded);
        response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
        response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
      });
    });
  }

  static async start(answer: Answering): Promise<RecordingBridge> {
    const bridge = new RecordingBridge(answer);
    bridge.#server.listen(0, '127.0.0.1');
    await once(bridge.#server, 'listening');
    return bridge;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('It does not listen.');
    return `http://127.0.0.1:${address.port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function kept(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      ofTransport.has(name) ? [] : [[name, String(value)]],
    ),
  );
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
