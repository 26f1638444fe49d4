import type { Assignment, Lane, Lease, Pause, Settlement } from '@codelanes/protocol';
import { CodelanesError } from '@codelanes/protocol';
import type { Fetched, RegistrationFence, SchedulerStore, Settled, WorkerFence } from '../scheduler/store.js';
import { Bell } from './bell.js';
import type { Connection } from './connection.js';
import { recheckMs } from './recheck.js';
import { newStopSignal } from './stop-signal.js';

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
  /** The open poll of each incarnation, by worker and incarnation. */
  readonly #open = new Map<string, OpenPoll>();
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
    const own = this.#takePlace(worker);
    const { bell, heard } = own;
    const signals = [own.superseded.signal, this.#stopping.signal, connection.gone];
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
        // All there is was fetched, and whatever comes after that rings; but a ring may be lost.
        if (!(await bell.wait(Math.min(leftMs, recheckMs)))) heard.ofChange();
      }
    } finally {
      for (const end of unsubscribe) end();
      if (this.#open.get(placeOf(worker)) === own) this.#open.delete(placeOf(worker));
    }
  }

  /** Answers every open poll with nothing and refuses new ones. */
  stop(): void {
    this.#stopping.abort();
  }

  /**
   * Settles a call, as the store does. Where the worker's poll is open here too, it fetches what can start then in the
   * same turn, so that a store may do both as one.
   */
  settle(worker: WorkerFence, lease: Lease, settlement: Settlement | Pause): Promise<Settled> {
    const settled = this.#store.settle(worker, lease, settlement);
    this.#open.get(placeOf(worker))?.heard.ofChange();
    return settled;
  }

  async #fetch(worker: RegistrationFence): Promise<Fetched> {
    const fetched = await this.#store.fetch(worker);
    if (!fetched.ok) throw new CodelanesError(fetched.error.code, fetched.error.message);
    return fetched;
  }

  #takePlace(worker: WorkerFence): OpenPoll {
    const bell = new Bell();
    const own = { superseded: new AbortController(), bell, heard: new Heard(bell.ring) };
    this.#open.get(placeOf(worker))?.superseded.abort();
    this.#open.set(placeOf(worker), own);
    return own;
  }
}

interface OpenPoll {
  readonly superseded: AbortController;
  readonly bell: Bell;
  readonly heard: Heard;
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
