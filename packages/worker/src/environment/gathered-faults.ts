import { DefinitionError, type FaultOfFile } from './definition-error.js';

/** Gathers what several looks at definitions find, so that an operator hears of everything at once. */
export class GatheredFaults {
  readonly #faults: FaultOfFile[] = [];

  /** What a look returns, or `undefined` where it found faults, which are kept. */
  look<T>(take: () => T): T | undefined {
    try {
      return take();
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      this.#faults.push(...error.faults);
      return undefined;
    }
  }

  /** @throws {DefinitionError} where any look found something. */
  refuse(): void {
    if (this.#faults.length > 0) throw new DefinitionError(this.#faults);
  }
}
