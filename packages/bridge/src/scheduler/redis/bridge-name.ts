import { randomBytes } from 'node:crypto';

/** Names this process in Redis: what it has in the queue leaves it when it dies. */
export class BridgeName {
  readonly id = randomBytes(8).toString('hex');
  #attempts = 0;

  /** Names one try of this process, so that a script knows it again where it is sent twice. */
  nextAttempt(): string {
    this.#attempts += 1;
    return `${this.id}-${this.#attempts}`;
  }
}
