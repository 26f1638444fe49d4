import { isDeepStrictEqual } from 'node:util';
import type { Refused, SchedulerStore } from '@codelanes/bridge';
import type { Lease, WireError } from '@codelanes/protocol';
import type { Mismatch } from './mismatch.js';
import { newCall, registration, replayedWorker, resultOf } from './replayed-call.js';
import type { SchedulingTrace, Step } from './scheduling-trace.js';

/**
 * Replays a trace through the contract of a store, as a bridge and a worker would use it: submitted, fetched,
 * reported as started, settled. What a step starts is what a fetch brings after it. Gives the first difference,
 * or `undefined` where there is none.
 */
export async function replayScheduling(
  trace: SchedulingTrace,
  store: SchedulerStore,
): Promise<Mismatch | undefined> {
  const replay = new Replay(trace, store);
  await replay.resize(trace.slots);
  for (const [index, step] of trace.steps.entries()) {
    const got = await replay.take(step);
    if (!isDeepStrictEqual(got, step.starts)) {
      return {
        name: trace.name,
        step: `step ${index + 1} (${describeStep(step)})`,
        expected: step.starts,
        got,
      };
    }
  }
  return undefined;
}

class Replay {
  readonly #trace: SchedulingTrace;
  readonly #store: SchedulerStore;
  readonly #namesByCall = new Map<string, string>();
  readonly #callsByName = new Map<string, string>();
  readonly #leases = new Map<string, Lease>();

  constructor(trace: SchedulingTrace, store: SchedulerStore) {
    this.#trace = trace;
    this.#store = store;
  }

  async take(step: Step): Promise<readonly string[]> {
    switch (step.do) {
      case 'submit': {
        const call = newCall(step, this.#namesByCall.size);
        this.#namesByCall.set(call.callId, step.id);
        this.#callsByName.set(step.id, call.callId);
        assertOk(await this.#store.submit(call));
        break;
      }
      case 'finish':
        await this.#finish(step.id);
        break;
      case 'withdraw':
        await this.#store.withdraw(this.#callOf(step.id), 'caller_gone');
        break;
      case 'resize':
        await this.resize(step.slots);
        break;
    }
    return this.#start();
  }

  async resize(slots: number): Promise<void> {
    const { files, capacities } = this.#trace;
    assertOk(await this.#store.register(registration(slots, files, capacities)));
  }

  async #finish(name: string): Promise<void> {
    const lease = this.#leases.get(this.#callOf(name));
    if (lease === undefined) throw new Error(`${this.#trace.name}: ${name} finishes, but never started`);
    const { accepted } = await this.#store.settle(replayedWorker, lease, resultOf());
    if (!accepted) throw new Error(`${this.#trace.name}: the settlement of ${name} was not accepted`);
  }

  /** Fetches what has started, as its worker does. */
  async #start(): Promise<readonly string[]> {
    const { assignments } = assertOk(await this.#store.fetch(replayedWorker));
    if (assignments.length === 0) return [];
    const leases = assignments.map(({ callId, generation, token }) => ({ callId, generation, token }));
    for (const lease of leases) this.#leases.set(lease.callId, lease);
    await this.#store.report(
      replayedWorker,
      leases.map((lease) => ({ ...lease, state: 'started' as const })),
    );
    return leases.map(({ callId }) => this.#namesByCall.get(callId) ?? callId);
  }

  #callOf(name: string): string {
    const callId = this.#callsByName.get(name);
    if (callId === undefined) throw new Error(`${this.#trace.name}: ${name} was never submitted`);
    return callId;
  }
}

function assertOk<T extends { readonly ok: true }>(reply: T | Refused): T {
  if (reply.ok) return reply;
  const { code, message }: WireError = reply.error;
  throw new Error(`refused: ${code}: ${message}`);
}

function describeStep(step: Step): string {
  return step.do === 'resize' ? `resize to ${step.slots}` : `${step.do} ${step.id}`;
}
