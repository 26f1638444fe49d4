import { callsConflict, type Assignment } from '@codelanes/protocol';
import type { Registration } from '../store.js';
import type { WorkerAtStore } from './worker-at-store.js';

/**
 * A worker as the last judge, whatever its store has forgotten: it begins no call twice, lets no two calls meet, and
 * says of everything what became of it.
 */
export class JudgingWorker {
  readonly at: WorkerAtStore;
  readonly #offer: Pick<Registration, 'slots' | 'filePool' | 'capacities'>;
  /** What a journal is for. */
  readonly #begun = new Set<string>();
  readonly #held = new Map<string, Assignment>();
  readonly #paused = new Set<string>();

  constructor(at: WorkerAtStore, offer: Pick<Registration, 'slots' | 'filePool' | 'capacities'>) {
    this.at = at;
    this.#offer = offer;
  }

  /** The calls that run, the oldest first. */
  get held(): readonly string[] {
    return [...this.#held.keys()];
  }

  /** The scripts that wait for their tools. */
  get paused(): readonly string[] {
    return [...this.#paused];
  }

  /** Says what it holds, and what became of everything else that the store asks about. */
  async register(): Promise<void> {
    const holds = this.held.map((callId) => this.at.hold(callId));
    const reply = await this.at.register({ ...this.#offer, holds });
    if (!reply.ok) throw new Error(reply.error.code);
    for (const callId of reply.unresolved) await this.#resolve(callId);
  }

  async fetch(): Promise<void> {
    const { calls, cancellations } = await this.at.fetch();
    for (const callId of calls) await this.#take(callId);
    for (const callId of cancellations) await this.#stop(callId);
  }

  async settle(callId: string): Promise<void> {
    this.#held.delete(callId);
    await this.at.settle(callId);
  }

  async pause(callId: string): Promise<void> {
    if (this.#held.get(callId)?.request.operation.endsWith('_script') !== true) return;
    this.#held.delete(callId);
    if (await this.at.pause(callId)) this.#paused.add(callId);
  }

  /** What it cannot renew any more it kills. */
  async renew(): Promise<void> {
    const { lost, cancellations } = await this.at.renew(...this.held);
    for (const callId of lost) this.#held.delete(callId);
    for (const callId of cancellations) await this.#stop(callId);
  }

  async #take(callId: string): Promise<void> {
    const assignment = this.at.assignments.get(callId);
    if (assignment === undefined) throw new Error(`${callId} was never fetched`);
    const goesOn = assignment.request.operation === 'resume_script' && this.#paused.delete(callId);
    if (this.#begun.has(callId) && !goesOn) await this.#resolve(callId);
    else if ([...this.#held.values()].some((other) => callsConflict(other, assignment))) {
      if (goesOn) this.#paused.add(callId);
      await this.at.report('busy', callId);
    } else {
      this.#begun.add(callId);
      this.#held.set(callId, assignment);
      await this.at.report('started', callId);
    }
  }

  async #stop(callId: string): Promise<void> {
    this.#paused.delete(callId);
    if (this.#held.has(callId)) await this.settle(callId);
  }

  async #resolve(callId: string): Promise<void> {
    this.#held.delete(callId);
    this.#paused.delete(callId);
    await this.at.resolve(this.#begun.has(callId) ? 'interrupted' : 'denied', callId);
  }
}
