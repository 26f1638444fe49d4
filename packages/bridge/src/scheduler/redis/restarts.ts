import type { Clock } from '../store.js';
import type { RedisClient } from './connections.js';

/**
 * For how long after a start of Redis no call is handed over: every bridge that lives has connected again by then, as
 * it tries twice a second at least, and has said what must not come back.
 */
const agreementMs = 1_500;
/** It is said so often, as what another bridge had asked for on its way may have to be given back first. */
const timesSaid = 5;

/**
 * Notices that Redis was started anew, or is another one. It may have come back without its last seconds then, so
 * that what every bridge knows better has to be said before anything is done by what Redis holds. The nodes of a
 * cluster are not watched.
 */
export class Restarts {
  readonly #client: RedisClient;
  readonly #clock: Clock;
  readonly #correct: () => Promise<void>;
  readonly #onKnown: (isAnother: boolean) => void;
  #connections = 0;
  #count = 0;
  #runId: string | undefined;
  #isKnown: Promise<unknown> = Promise.resolve();
  #agreement: Promise<void> | undefined;

  /** `correct` says what this process knows better; `onKnown` is told after each connection what it leads to. */
  constructor(
    client: RedisClient,
    clock: Clock,
    correct: () => Promise<void>,
    onKnown: (isAnother: boolean) => void,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#correct = correct;
    this.#onKnown = onKnown;
    if (client.isCluster) return;
    client.on('ready', () => {
      this.#connections += 1;
      const isAnother = this.#look();
      this.#isKnown = isAnother;
      const agreement = isAnother
        .then((yes) => (yes ? this.#agree() : undefined))
        .finally(() => {
          if (this.#agreement === agreement) this.#agreement = undefined;
        });
      this.#agreement = agreement;
    });
  }

  /** `undefined` where what Redis holds may be relied upon, else what resolves when it may. */
  agreement(): Promise<void> | undefined {
    return this.#agreement;
  }

  /** Asked later, the answer is whether Redis was started anew from now until then. */
  watch(): () => Promise<boolean> {
    const [connections, count] = [this.#connections, this.#count];
    return async () => {
      if (this.#connections === connections) return false;
      await this.#isKnown;
      return this.#count !== count;
    };
  }

  /** Whether this connection leads to another Redis than the one before. */
  async #look(): Promise<boolean> {
    const runId = await this.#askRunId();
    if (runId === undefined) return false;
    const isAnother = this.#runId !== undefined && runId !== this.#runId;
    this.#runId = runId;
    this.#onKnown(isAnother);
    if (isAnother) this.#count += 1;
    return isAnother;
  }

  async #agree(): Promise<void> {
    for (let time = 1; time <= timesSaid; time += 1) {
      await this.#correct();
      await new Promise<void>((resolve) => {
        this.#clock.after(agreementMs / timesSaid, resolve);
      });
    }
  }

  /** `undefined` where the connection is lost again. */
  async #askRunId(): Promise<string | undefined> {
    const told = await this.#client.info('server').catch(() => '');
    return /^run_id:(\w+)/m.exec(told)?.[1];
  }
}
