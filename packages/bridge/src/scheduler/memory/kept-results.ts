import type { CallRecord } from './call-record.js';

/** Characters of results that are remembered, however many calls end within the time for which ends are. */
export const keptCharacters = 64 * 1024 * 1024;

/** Which remembered results take how much; where they are too much the oldest goes, but never the latest. */
export class KeptResults {
  readonly #most: number;
  readonly #onDropped: (record: CallRecord) => void;
  /** The oldest first. */
  readonly #sizes = new Map<CallRecord, number>();
  #sum = 0;

  constructor(most: number, onDropped: (record: CallRecord) => void) {
    this.#most = most;
    this.#onDropped = onDropped;
  }

  keep(record: CallRecord, result: unknown): void {
    const size = charactersIn(result);
    this.#sizes.set(record, size);
    this.#sum += size;
    for (const oldest of this.#sizes.keys()) {
      if (this.#sum <= this.#most || oldest === record) return;
      this.drop(oldest);
      this.#onDropped(oldest);
    }
  }

  drop(record: CallRecord): void {
    this.#sum -= this.#sizes.get(record) ?? 0;
    this.#sizes.delete(record);
  }
}

/** Of all texts in it: what else there is in a result is small. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + charactersIn(part), 0);
}
