import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';

/** An address of loopback that leads to a port, and later to another one, as a name or a proxy does after a failover. */
export class Entrance {
  readonly port: number;
  readonly #server: Server;
  #target: number;

  private constructor(server: Server, port: number, target: number) {
    this.#server = server;
    this.port = port;
    this.#target = target;
    server.on('connection', (incoming) => {
      const onward = connect(this.#target, '127.0.0.1');
      incoming.pipe(onward).pipe(incoming);
      incoming.on('error', () => onward.destroy()).on('close', () => onward.destroy());
      onward.on('error', () => incoming.destroy()).on('close', () => incoming.destroy());
    });
  }

  static async to(target: number): Promise<Entrance> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('there is no free port');
    return new Entrance(server, address.port, target);
  }

  /** From the next connection on. */
  leadTo(target: number): void {
    this.#target = target;
  }

  close(): void {
    this.#server.close();
  }
}
