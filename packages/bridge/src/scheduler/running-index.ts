import type { Pool } from '@codelanes/protocol';
import { LaneIndex } from './lane-index.js';
import type { QueuedCall } from './queued-call.js';
import { isSetupOf, systemPrincipal } from './setup-call.js';

/** The calls of one worker that are reserved, delivered, running or cancelling. It keeps sets, never counters. */
export class RunningIndex {
  readonly #lanes = new LaneIndex();
  readonly #pools: Readonly<Record<Pool, Set<QueuedCall>>> = { command: new Set(), file: new Set() };
  readonly #principals = new Map<string, Set<QueuedCall>>();

  add(call: QueuedCall): void {
    this.#lanes.add(call);
    this.#pools[call.pool].add(call);
    const own = this.#principals.get(call.principal);
    if (own === undefined) this.#principals.set(call.principal, new Set([call]));
    else own.add(call);
  }

  delete(call: QueuedCall): void {
    this.#lanes.delete(call);
    this.#pools[call.pool].delete(call);
    const own = this.#principals.get(call.principal);
    own?.delete(call);
    if (own?.size === 0) this.#principals.delete(call.principal);
  }

  inPool(pool: Pool): number {
    return this.#pools[pool].size;
  }

  /** Commands of that lane and of every lane beneath it. */
  commandsWithin(lane: readonly string[]): number {
    let commands = 0;
    for (const call of this.#lanes.within(lane)) if (call.pool === 'command') commands += 1;
    return commands;
  }

  /** Whether a command that has all of exactly that lane runs. */
  hasCommandOf(lane: readonly string[]): boolean {
    return this.#lanes.oldestExclusive(lane)?.pool === 'command';
  }

  /** Running calls of a principal, of either pool; those of the system never count. */
  ofPrincipal(principal: string): number {
    return principal === systemPrincipal ? 0 : (this.#principals.get(principal)?.size ?? 0);
  }

  /** Whether a setup of exactly that lane runs. */
  hasSetupOf(lane: readonly string[]): boolean {
    const setups = this.#principals.get(systemPrincipal) ?? [];
    return [...setups].some((setup) => isSetupOf(setup, lane));
  }

  get hasSetups(): boolean {
    return this.#principals.has(systemPrincipal);
  }

  hasConflict(call: QueuedCall): boolean {
    return this.#lanes.oldestConflict(call) !== undefined;
  }

  conflicts(call: QueuedCall, atMost: number): readonly QueuedCall[] {
    return this.#lanes.conflicts(call, atMost);
  }
}
