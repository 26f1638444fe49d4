import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Random } from './random.js';

/**
 * Stands between clients and bridges, as in a deployment with several: each request goes to any of them, over a
 * connection of its own. It can be cut, and then behaves as a broken network does: what was under way arrives at
 * the bridges and nothing comes back.
 */
export class Balancer {
  readonly #server: Server;
  readonly #bridges: () => readonly string[];
  readonly #random: Random;
  readonly #silent = new Set<ServerResponse>();
  #isCut = false;

  private constructor(bridges: () => readonly string[], random: Random) {
    this.#bridges = bridges;
    this.#random = random;
    this.#server = createServer((incoming, reply) => {
      void this.#serve(incoming, reply);
    });
  }

  /** `bridges` gives the URLs that serve at the moment. */
  static async start(bridges: () => readonly string[], random: Random): Promise<Balancer> {
    const balancer = new Balancer(bridges, random);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('this balancer does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  cut(): void {
    this.#isCut = true;
  }

  /** What went unanswered meanwhile stays so. */
  heal(): void {
    this.#isCut = false;
    for (const reply of this.#silent) reply.destroy();
    this.#silent.clear();
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    const body = await buffer(incoming).catch(() => undefined);
    if (body === undefined) return;
    if (this.#isCut) this.#fallSilent(reply);
    else this.#forward(incoming, body, reply, this.#random.shuffled(this.#bridges()));
  }

  /** A bridge that does not even listen has seen nothing: another one is asked. */
  #forward(
    incoming: IncomingMessage,
    body: Buffer,
    reply: ServerResponse,
    [bridge, ...others]: string[],
  ): void {
    if (bridge === undefined) {
      reply.destroy();
      return;
    }
    const { method, url, headers } = incoming;
    const onward = request(new URL(url ?? '/', bridge), { agent: false, ...(method && { method }), headers });
    const onGone = (): void => {
      if (!reply.writableFinished && !this.#isCut && !this.#silent.has(reply)) onward.destroy();
    };
    reply.once('close', onGone);
    onward.once('response', (answer) => {
      this.#handBack(answer, reply);
    });
    onward.once('error', (error) => {
      reply.off('close', onGone);
      if ('code' in error && error.code === 'ECONNREFUSED') this.#forward(incoming, body, reply, others);
      else this.#abandon(reply);
    });
    onward.end(body);
  }

  /** Piece by piece, as they come. */
  #handBack(answer: IncomingMessage, reply: ServerResponse): void {
    const isLost = (): boolean => {
      if (this.#isCut) this.#fallSilent(reply);
      return reply.destroyed || this.#silent.has(reply);
    };
    if (!isLost()) {
      const { connection: _hop, 'transfer-encoding': _encoding, ...headers } = answer.headers;
      reply.writeHead(answer.statusCode ?? 502, headers);
    }
    answer.on('data', (piece: Buffer) => {
      if (!isLost()) reply.write(piece);
    });
    answer.once('end', () => {
      if (!isLost()) reply.end();
    });
    answer.once('error', () => {
      this.#abandon(reply);
    });
  }

  #abandon(reply: ServerResponse): void {
    if (this.#isCut) this.#fallSilent(reply);
    else reply.destroy();
  }

  #fallSilent(reply: ServerResponse): void {
    if (this.#silent.has(reply)) return;
    this.#silent.add(reply);
    reply.once('close', () => {
      this.#silent.delete(reply);
    });
  }
}
