import { laneKey, laneKeysFromRoot, type WaitingReason } from '@codelanes/protocol';
import type { QueuedCall } from './queued-call.js';
import type { RunningIndex } from './running-index.js';
import type { NodeCapacity } from './store.js';

/** How many calls a worker may run at once: the pools of DESIGN §3, and the capacities of lanes. */
export class Room {
  readonly slots: number;
  readonly filePool: number;
  readonly #capacities: ReadonlyMap<string, NodeCapacity>;

  constructor(slots: number, filePool: number, capacities: readonly NodeCapacity[]) {
    this.slots = slots;
    this.filePool = filePool;
    this.#capacities = new Map(capacities.map((capacity) => [laneKey(capacity.lane), capacity]));
  }

  /** Which room is missing for one more call like this, or `undefined` where there is enough. */
  lackingFor(call: QueuedCall, running: RunningIndex): WaitingReason['lacking'] {
    if (call.pool === 'file') return running.inPool('file') < this.filePool ? undefined : 'files';
    if (running.inPool('command') >= this.slots) return 'slots';
    return this.#hasFullNode(call, running) ? 'repository' : undefined;
  }

  /** Whether a call of any kind could find room. */
  isFull(running: RunningIndex): boolean {
    return running.inPool('command') >= this.slots && running.inPool('file') >= this.filePool;
  }

  #hasFullNode(call: QueuedCall, running: RunningIndex): boolean {
    if (this.#capacities.size === 0) return false;
    return laneKeysFromRoot(call.lane).some((key) => {
      const node = this.#capacities.get(key);
      return node !== undefined && running.commandsWithin(node.lane) >= node.commands;
    });
  }
}
