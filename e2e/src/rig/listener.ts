import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** A server on the host that counts who got through to it. */
export class Listener {
  readonly #server: Server;
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.connections += 1;
      socket.destroy();
    });
  }

  /** Listens on a free TCP port of the loopback, or at a path (an abstract one begins with NUL). */
  static async at(path?: string): Promise<Listener> {
    const server = createServer();
    const listener = new Listener(server);
    if (path === undefined) server.listen(0, '127.0.0.1');
    else server.listen(path);
    await once(server, 'listening');
    return listener;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('this one listens at a path');
    return address.port;
  }

  close(): void {
    this.#server.close();
  }
}
