import type { Refused, WorkerFence } from '../store.js';
import type { Memory } from './memory.js';
import { refused } from './refused.js';
import type { WorkerRecord } from './worker-record.js';

/** Whether the worker was heard from within the life of a lease. */
export function isOnline(memory: Memory, worker: WorkerRecord): boolean {
  return leaseExpiresInMs(memory, worker) > 0;
}

/** What is left of the time in which the worker has to be heard from again; 0 where it is over. */
export function leaseExpiresInMs(memory: Memory, worker: WorkerRecord): number {
  return Math.max(0, Math.ceil(worker.heardAt + memory.settings.leaseTtlMs - memory.clock.now()));
}

/** The worker that speaks, noted as heard from; refused where another incarnation has taken its place. */
export function hear(memory: Memory, fence: WorkerFence): WorkerRecord | Refused {
  const worker = memory.workers.get(fence.workerId);
  if (worker === undefined) {
    return refused('WORKER_NOT_FOUND', `Worker ${fence.workerId} has not registered with this bridge.`);
  }
  if (worker.registration.incarnationId !== fence.incarnationId) {
    return refused('WORKER_FENCED', `Another start of worker ${fence.workerId} has taken over.`);
  }
  worker.heardAt = memory.clock.now();
  return worker;
}
