import type { PairingStore, RecordName } from './pairing-store.js';
import type { KeptRecord, PairingFile } from './pairing-file.js';

/** Between two looks for nonces that may be forgotten. */
const sweepMs = 60_000;
/** A clock that is ahead is written down with this much more, so that not every request of its worker is a write. */
const aheadMs = 5_000;

/** The pairings of one bridge; kept in a file where it is given one. */
export class MemoryPairingStore implements PairingStore {
  readonly isBesideCalls = false;
  readonly #records: Map<string, KeptRecord>;
  readonly #nonces = new Map<string, number>();
  readonly #listeners = new Set<(workerId: string | undefined) => void>();
  readonly #file: PairingFile | undefined;
  readonly #now: () => number;
  readonly #openedAt: number;
  /** Until when each worker whose clock was ahead may have signed what an earlier bridge let pass. */
  readonly #signedUntil: ReadonlyMap<string, number>;
  #sweptAt: number;
  /** Changes are made one after the other, as each has to be in the file before it is told of. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(records: Map<string, KeptRecord>, file: PairingFile | undefined, now: () => number) {
    this.#records = records;
    this.#file = file;
    this.#now = now;
    this.#openedAt = now();
    this.#signedUntil = new Map([...records].map(([key, { until }]) => [key, until]));
    this.#sweptAt = this.#openedAt;
  }

  /** @throws Error where the file is there and cannot be used. */
  static async open(file?: PairingFile, now: () => number = Date.now): Promise<MemoryPairingStore> {
    return new MemoryPairingStore((await file?.read()) ?? new Map<string, KeptRecord>(), file, now);
  }

  get isLasting(): boolean {
    return this.#file !== undefined;
  }

  read(name: RecordName): Promise<string | undefined> {
    return Promise.resolve(this.#find(keyOf(name)));
  }

  replace(
    name: RecordName,
    expected: string | undefined,
    next: string | undefined,
    keptMs: number,
  ): Promise<boolean> {
    return this.#inTurn(() => this.#replace(name, expected, next, keptMs));
  }

  /** What was signed before the start may have been used then: of that nothing is known any more. */
  async useNonce(workerId: string, nonce: string, signedAt: number, keptMs: number): Promise<boolean> {
    const now = this.#now();
    this.#sweep(now);
    const clock = clockOf(workerId);
    const isSignedSince = signedAt >= this.#openedAt && signedAt > (this.#signedUntil.get(clock) ?? 0);
    const key = `${workerId} ${nonce}`;
    if (!isSignedSince || (this.#nonces.get(key) ?? 0) > now) return false;
    this.#nonces.set(key, now + keptMs);
    if (signedAt > now) await this.#inTurn(() => this.#noteAhead(clock, signedAt));
    return true;
  }

  watch(listener: (workerId: string | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#last;
  }

  async #replace(
    name: RecordName,
    expected: string | undefined,
    next: string | undefined,
    keptMs: number,
  ): Promise<boolean> {
    const key = keyOf(name);
    if (this.#find(key) !== expected) return false;
    await this.#keep(key, next === undefined ? undefined : { text: next, until: this.#now() + keptMs });
    if ('worker' in name) for (const listener of this.#listeners) listener(name.worker);
    return true;
  }

  /** After a restart such a proof would be one that was signed since. */
  async #noteAhead(clock: string, signedAt: number): Promise<void> {
    const isNoted = signedAt <= (this.#records.get(clock)?.until ?? 0);
    if (this.#file === undefined || isNoted) return;
    await this.#keep(clock, { text: '', until: signedAt + aheadMs });
  }

  async #keep(key: string, record: KeptRecord | undefined): Promise<void> {
    const records = new Map(this.#records);
    if (record === undefined) records.delete(key);
    else records.set(key, record);
    for (const [each, { until }] of records) if (until <= this.#now()) records.delete(each);
    await this.#file?.write(records);
    this.#records.clear();
    for (const [each, kept] of records) this.#records.set(each, kept);
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#last.then(change);
    this.#last = done.catch(() => undefined);
    return done;
  }

  #find(key: string): string | undefined {
    const record = this.#records.get(key);
    return record === undefined || record.until <= this.#now() ? undefined : record.text;
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < sweepMs) return;
    this.#sweptAt = now;
    for (const [key, until] of this.#nonces) if (until <= now) this.#nonces.delete(key);
  }
}

function clockOf(workerId: string): string {
  return `clock ${workerId}`;
}

function keyOf(name: RecordName): string {
  return 'worker' in name ? `worker ${name.worker}` : `code ${name.code}`;
}
