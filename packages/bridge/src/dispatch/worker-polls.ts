import type { Assignment, Lane } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import type { Fetched, RegistrationFence, SchedulerStore, WorkerFence } from '../scheduler/store.js';
import { Bell } from './bell.js';
import type { Connection } from './connection.js';
import { newStopSignal } from './stop-signal.js';

/** Every assignment rings; this is only the net beneath a ring that a store lost. */
const recheckMs = 5_000;

export interface Polled {
  /** How long the poll was held before it fetched what it brings; never more than it was. */
  readonly heldMs: number;
  readonly assignments: readonly Assignment[];
  readonly cancellations: readonly string[];
  /** Lanes for which a command has begun to wait. */
  readonly expected: readonly Lane[];
}

export interface BatchOptions {
  /** Whether batches may come that merely tell what to expect. */
  readonly hints?: boolean | undefined;
}

const nothing = { assignments: [], cancellations: [] } as const;

/** The one open long poll of each incarnation of a worker. */
export class WorkerPolls {
  readonly #store: SchedulerStore;
  /** What ends the open poll of an incarnation, by worker and incarnation. */
  readonly #open = new Map<string, AbortController>();
  readonly #stopping = newStopSignal();

  constructor(store: SchedulerStore) {
    this.#store = store;
  }

  /**
   * The first of the `batches`.
   *
   * @throws CodelanesError as they do.
   */
  async poll(worker: RegistrationFence, waitMs: number, connection: Connection): Promise<Polled> {
    for await (const batch of this.batches(worker, waitMs, connection)) return batch;
    throw new Error('A poll has at least one batch.');
  }

  /**
   * What there is for the worker, as soon as there is something, until that many milliseconds are over; then an
   * empty batch, the last. A newer poll of the same incarnation takes the place of an older one, which ends
   * then. Nothing is fetched for a poll whose connection is gone, as what is fetched counts as delivered.
   *
   * @throws CodelanesError as the store refuses it, such as `WORKER_FENCED`; `BRIDGE_STOPPING`.
   */
  async *batches(
    worker: RegistrationFence,
    waitMs: number,
    connection: Connection,
    { hints = false }: BatchOptions = {},
  ): AsyncGenerator<Polled> {
    if (this.#stopping.signal.aborted) {
      throw new CodelanesError('BRIDGE_STOPPING', 'The bridge is stopping; there is nothing to fetch.');
    }
    const startedAt = performance.now();
    const superseded = this.#takePlace(worker);
    const bell = new Bell();
    const heard = new Heard(bell.ring);
    const signals = [superseded.signal, this.#stopping.signal, connection.gone];
    const unsubscribe = [
      this.#store.onWorker(worker.workerId, heard.ofChange),
      ...(hints ? [this.#store.onExpected(worker.workerId, heard.ofExpected)] : []),
      ...signals.map((signal) => bell.ringOnAbort(signal)),
    ];
    try {
      for (;;) {
        const heldMs = Math.floor(performance.now() - startedAt);
        if (!connection.isOpen() || signals.some((signal) => signal.aborted)) {
          yield { heldMs, ...nothing, expected: [] };
          return;
        }
        const { assignments, cancellations } = heard.takeChange() ? await this.#fetch(worker) : nothing;
        const expected = heard.takeExpected();
        const brings = assignments.length + cancellations.length;
        const leftMs = waitMs - (performance.now() - startedAt);
        const isOver = leftMs <= 0 && brings === 0;
        if (brings + expected.length > 0 || isOver) yield { heldMs, assignments, cancellations, expected };
        if (isOver) return;
        // What was fetched may not have been all there is, and a ring may be lost.
        if (brings > 0 || !(await bell.wait(Math.min(leftMs, recheckMs)))) heard.ofChange();
      }
    } finally {
      for (const end of unsubscribe) end();
      if (this.#open.get(placeOf(worker)) === superseded) this.#open.delete(placeOf(worker));
    }
  }

  /** Answers every open poll with nothing and refuses new ones. */
  stop(): void {
    this.#stopping.abort();
  }

  async #fetch(worker: RegistrationFence): Promise<Fetched> {
    const fetched = await this.#store.fetch(worker);
    if (!fetched.ok) throw new CodelanesError(fetched.error.code, fetched.error.message);
    return fetched;
  }

  #takePlace(worker: WorkerFence): AbortController {
    const place = new AbortController();
    this.#open.get(placeOf(worker))?.abort();
    this.#open.set(placeOf(worker), place);
    return place;
  }
}

/** What a poll has heard of its worker since it last looked. */
class Heard {
  readonly #ring: () => void;
  #changed = true;
  readonly #expected: Lane[] = [];

  constructor(ring: () => void) {
    this.#ring = ring;
  }

  readonly ofChange = (): void => {
    this.#changed = true;
    this.#ring();
  };

  readonly ofExpected = (lane: Lane): void => {
    this.#expected.push(lane);
    this.#ring();
  };

  takeChange(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  takeExpected(): readonly Lane[] {
    return this.#expected.splice(0);
  }
}

function placeOf({ workerId, incarnationId }: WorkerFence): string {
  return `${workerId} ${incarnationId}`;
}
