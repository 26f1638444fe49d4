import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait on one connection for the answers to those before them. */
export const mostUnanswered = 16;

interface Turn {
  unanswered: number;
  last: ServerResponse;
}

/**
 * Works on one request of a connection at a time. Were all that a client sends without waiting begun at once, each would
 * have a connection of its own to the other side, however few the client has; and as they come by the thousand in one
 * packet, deciding about them would keep the proxies of all other calls waiting.
 */
export class RequestTurns {
  readonly #turns = new WeakMap<Socket, Turn>();
  readonly #onFlood: () => void;

  /** @param onFlood told of each connection on which too many requests came ahead, and which is ended. */
  constructor(onFlood: () => void) {
    this.#onFlood = onFlood;
  }

  /** Begins when the request before has been answered. */
  take(socket: Socket, response: ServerResponse, begin: () => void): void {
    if (socket.destroyed) return;
    const turn = this.#turns.get(socket);
    response.once('close', () => {
      const own = this.#turns.get(socket);
      if (own !== undefined) own.unanswered -= 1;
    });
    if (turn === undefined || turn.unanswered === 0) {
      this.#turns.set(socket, { unanswered: 1, last: response });
      begin();
    } else if (turn.unanswered < mostUnanswered) {
      turn.last.once('close', () => {
        if (!socket.destroyed) begin();
      });
      turn.unanswered += 1;
      turn.last = response;
    } else {
      socket.destroy();
      this.#onFlood();
    }
  }
}
