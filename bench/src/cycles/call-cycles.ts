import type { SchedulerStore } from '@codelanes/bridge';
import { laneOf, type Assignment } from '@codelanes/protocol';
import { newCall, registration, settlement, worker } from '../rig/paper-worker.js';
import type { Cycles } from './cycles.js';

/** Calls through a store: submitted, fetched by a worker that is woken for them, settled. Each line is a lane. */
export class CallCycles implements Cycles {
  readonly #store: SchedulerStore;
  readonly #settled = new Map<string, { resolve: () => void; reject: (error: unknown) => void }>();
  readonly #off: () => void;
  #isFetching = false;
  #rung = false;

  private constructor(store: SchedulerStore) {
    this.#store = store;
    this.#off = store.onWorker(worker.workerId, this.#ring);
  }

  static async open(store: SchedulerStore, slots: number): Promise<CallCycles> {
    await store.register(registration(slots));
    return new CallCycles(store);
  }

  async cycle(line: number): Promise<void> {
    const call = newCall(laneOf({ workspaceId: 'primary', worktree: `lane-${line}` }), `caller-${line}`);
    const settled = new Promise<void>((resolve, reject) => {
      this.#settled.set(call.callId, { resolve, reject });
    });
    const submitted = await this.#store.submit(call);
    if (!submitted.ok) throw new Error(submitted.error.message);
    await settled;
  }

  async close(): Promise<void> {
    this.#off();
    await this.#store.close();
  }

  readonly #ring = (): void => {
    this.#rung = true;
    if (!this.#isFetching) void this.#fetch();
  };

  async #fetch(): Promise<void> {
    this.#isFetching = true;
    while (this.#rung) {
      this.#rung = false;
      const fetched = await this.#store.fetch(worker);
      if (!fetched.ok) throw new Error(fetched.error.message);
      for (const assignment of fetched.assignments) void this.#settle(assignment);
    }
    this.#isFetching = false;
  }

  async #settle({ callId, generation, token }: Assignment): Promise<void> {
    const waiter = this.#settled.get(callId);
    this.#settled.delete(callId);
    try {
      const { accepted } = await this.#store.settle(worker, { callId, generation, token }, settlement);
      if (accepted) waiter?.resolve();
      else waiter?.reject(new Error('A settlement was not accepted.'));
    } catch (error) {
      waiter?.reject(error);
    }
  }
}
