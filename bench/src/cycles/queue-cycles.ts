import type { SchedulerStore } from '@codelanes/bridge';
import { laneOf, type Lease } from '@codelanes/protocol';
import { newCall, registration, settlement, worker } from '../rig/paper-worker.js';

const slots = 8;
const lanes = 40;

/** A store whose queue is always of the same length: for each call that ends another one is submitted. */
export class QueueCycles {
  readonly #store: SchedulerStore;
  readonly #running: Lease[] = [];
  #submitted = 0;

  private constructor(store: SchedulerStore) {
    this.#store = store;
  }

  /** Fills the slots, and the queue with that many calls in all lanes. */
  static async open(store: SchedulerStore, waiting: number): Promise<QueueCycles> {
    await store.register(registration(slots));
    const cycles = new QueueCycles(store);
    for (let call = 0; call < waiting + slots; call += 1) await cycles.#submit();
    await cycles.#fetch();
    return cycles;
  }

  /** One call ends, another starts in its place, and one more is submitted. */
  async cycle(): Promise<void> {
    const lease = this.#running.shift();
    if (lease === undefined) throw new Error('Nothing runs, although calls wait.');
    const { accepted } = await this.#store.settle(worker, lease, settlement);
    if (!accepted) throw new Error('A settlement was not accepted.');
    await this.#submit();
    await this.#fetch();
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  async #submit(): Promise<void> {
    const worktree = `lane-${this.#submitted % lanes}`;
    const lane = laneOf({ workspaceId: 'primary', worktree });
    const submitted = await this.#store.submit(newCall(lane, `caller-${this.#submitted % slots}`));
    if (!submitted.ok) throw new Error(submitted.error.message);
    this.#submitted += 1;
  }

  async #fetch(): Promise<void> {
    const fetched = await this.#store.fetch(worker);
    if (!fetched.ok) throw new Error(fetched.error.message);
    for (const { callId, generation, token } of fetched.assignments) {
      this.#running.push({ callId, generation, token });
    }
  }
}
