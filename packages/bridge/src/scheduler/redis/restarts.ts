import type { Clock } from '../clock.js';

/**
 * For how long after a start of Redis no call is handed over: every bridge that lives has connected again by then, as
 * it tries twice a second at least, and has said what must not come back.
 */
const agreementMs = 1_500;
/** It is said so often, as what another bridge had asked for on its way may have to be given back first. */
const timesSaid = 5;

interface Parts {
  readonly clock: Clock;
  /** Names the process that answers now; `undefined` where the connection is lost again. */
  readonly askRunId: () => Promise<string | undefined>;
  /** Says what this bridge knows better. */
  readonly correct: () => Promise<void>;
  /** Told after each connection what it leads to. */
  readonly onKnown: (isAnother: boolean) => void;
}

/**
 * Notices that Redis was started anew, or is another one. It may have come back without its last seconds then, so
 * that what every bridge knows better has to be said before anything is done by what Redis holds.
 */
export class Restarts {
  readonly #parts: Parts;
  #connections = 0;
  #count = 0;
  #runId: string | undefined;
  /** There was a connection before, of which nobody knows where it led. */
  #isUnseen = false;
  #isKnown: Promise<unknown> = Promise.resolve();
  #agreement: Promise<unknown> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** There is a connection, perhaps to another process than before. */
  connected(): void {
    this.#connections += 1;
    const isAnother = this.#look();
    this.#isKnown = isAnother;
    // One that has begun goes on: a connection that is cut meanwhile shortens nothing.
    const agreement = Promise.all([
      this.#agreement,
      isAnother.then((yes) => (yes ? this.#agree() : undefined)),
    ]).finally(() => {
      if (this.#agreement === agreement) this.#agreement = undefined;
    });
    this.#agreement = agreement;
  }

  /** `undefined` where what Redis holds may be relied upon, else what resolves when it may. */
  agreement(): Promise<unknown> | undefined {
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
    const { askRunId, onKnown } = this.#parts;
    const runId = await askRunId();
    if (runId === undefined) {
      this.#isUnseen = true;
      return false;
    }
    const isAnother = this.#runId === undefined ? this.#isUnseen : runId !== this.#runId;
    this.#runId = runId;
    onKnown(isAnother);
    if (isAnother) this.#count += 1;
    return isAnother;
  }

  async #agree(): Promise<void> {
    const { clock, correct } = this.#parts;
    for (let time = 1; time <= timesSaid; time += 1) {
      await correct();
      await new Promise<void>((resolve) => {
        clock.after(agreementMs / timesSaid, resolve);
      });
    }
  }
}
