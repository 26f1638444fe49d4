import { expect } from 'vitest';
import type { Lane } from '@codelanes/protocol';
import type { SchedulerStore } from '../store.js';
import type { WorkerAtStore } from './worker-at-store.js';

/**
 * Resolves once that store, at which somebody listens, hears what is told of a worker. Whoever begins to listen is rung
 * for a few times at first, as nobody knows what was missed: all that is over then. Leaves calls in that lane.
 */
export async function onceHeard(store: SchedulerStore, worker: WorkerAtStore, lane: Lane): Promise<void> {
  let isHeard = false;
  // The one thing that is heard only if it was told.
  const off = store.onExpected(worker.workerId, () => {
    isHeard = true;
  });
  const told = async (): Promise<boolean> => {
    await worker.submit(lane);
    return isHeard;
  };
  await expect.poll(told, { timeout: 40_000 }).toBe(true);
  off();
}
