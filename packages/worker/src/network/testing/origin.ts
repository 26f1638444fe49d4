import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request as the origin saw it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A web server on an address of loopback that keeps what it is asked. */
export class Origin {
  readonly seen: Seen[] = [];
  readonly sockets: Socket[] = [];
  readonly #server: Server;
  readonly port: number;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(
    answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => {
      response.end('of the origin\n');
    },
    host = '127.0.0.1',
  ): Promise<Origin> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The origin does not listen.');
    const origin = new Origin(server, address.port);
    server.on('connection', (socket) => origin.sockets.push(socket));
    server.on('request', (request, response) => {
      void text(request)
        .catch(() => 'broken off')
        .then((body) => {
          const { method = '', url = '', headers } = request;
          origin.seen.push({ method, url, headers, body });
          answer(request, response);
        });
    });
    return origin;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
