import type {
  CallState,
  Lane,
  LanesView,
  Lease,
  Pause,
  Report,
  Settlement,
  ToolResult,
} from '@codelanes/protocol';
import { isEnded } from './memory/call-record.js';
import { resume, viewPaused } from './memory/pausing.js';
import { fetch, renew, report, settle } from './memory/leasing.js';
import { Memory } from './memory/memory.js';
import { cancel, submit, withdraw } from './memory/queueing.js';
import { register } from './memory/registering.js';
import { viewCall, viewLanes, viewLoad, viewWorker } from './memory/views.js';
import type {
  CallEnd,
  Fetched,
  Follower,
  Loss,
  OwnedCallView,
  PausedCall,
  Progress,
  Refused,
  Registered,
  Registration,
  RegistrationFence,
  Renewed,
  Resumed,
  SchedulerStore,
  Settled,
  SubmissionRefused,
  Submitted,
  WithdrawReason,
  Withdrawn,
  WorkerFence,
  WorkerLoad,
  WorkerView,
} from './store.js';
import { defaultSchedulerSettings, type SchedulerSettings } from './scheduler-settings.js';
import type { Clock } from './clock.js';
import type { NewCall } from './stored-call.js';
import { SystemClock } from './system-clock.js';

/**
 * The store of one process, without any service. Every transition runs to its end before the next begins, so
 * each is atomic by itself. What it knows dies with its process; a worker that registers again brings along what
 * it still holds.
 */
export class MemoryStore implements SchedulerStore {
  readonly #memory: Memory;

  constructor(settings: SchedulerSettings = defaultSchedulerSettings, clock: Clock = new SystemClock()) {
    this.#memory = new Memory(clock, settings);
  }

  register(registration: Registration): Promise<Registered | Refused> {
    return Promise.resolve(register(this.#memory, registration));
  }

  worker(workerId: string): Promise<WorkerView | undefined> {
    return Promise.resolve(viewWorker(this.#memory, workerId));
  }

  submit(call: NewCall): Promise<Submitted | SubmissionRefused> {
    return Promise.resolve(submit(this.#memory, call));
  }

  withdraw(callId: string, why: WithdrawReason): Promise<Withdrawn> {
    return Promise.resolve(withdraw(this.#memory, callId, why));
  }

  cancel(callId: string): Promise<CallState | undefined> {
    return Promise.resolve(cancel(this.#memory, callId));
  }

  fetch(worker: RegistrationFence): Promise<Fetched | Refused> {
    return Promise.resolve(fetch(this.#memory, worker));
  }

  report(
    worker: WorkerFence,
    reports: readonly Report[],
  ): Promise<{ readonly fenced: readonly string[] } | Refused> {
    return Promise.resolve(report(this.#memory, worker, reports));
  }

  renew(worker: WorkerFence, leases: readonly Lease[]): Promise<Renewed | Refused> {
    return Promise.resolve(renew(this.#memory, worker, leases));
  }

  settle(worker: WorkerFence, lease: Lease, settlement: Settlement | Pause): Promise<Settled> {
    return Promise.resolve(settle(this.#memory, worker, lease, settlement));
  }

  paused(callId: string): Promise<PausedCall | undefined> {
    return Promise.resolve(viewPaused(this.#memory, callId));
  }

  resume(callId: string, results: readonly ToolResult[]): Promise<Resumed | undefined> {
    return Promise.resolve(resume(this.#memory, callId, results));
  }

  end(callId: string): Promise<CallEnd | undefined> {
    const state = this.#memory.calls.get(callId)?.state;
    return Promise.resolve(state !== undefined && isEnded(state) ? state.end : undefined);
  }

  call(callId: string): Promise<OwnedCallView | undefined> {
    return Promise.resolve(viewCall(this.#memory, callId));
  }

  lanes(workerId: string): Promise<LanesView | undefined> {
    return Promise.resolve(viewLanes(this.#memory, workerId));
  }

  load(workerId: string): Promise<WorkerLoad | undefined> {
    return Promise.resolve(viewLoad(this.#memory, workerId));
  }

  workers(): Promise<readonly string[]> {
    return Promise.resolve([...this.#memory.workers.keys()].sort());
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  follow(callId: string, _workerId: string, listener: () => void): Follower {
    const stop = this.#memory.callListeners.on(callId, listener);
    return { progress: () => Promise.resolve(this.#progressOf(callId)), stop };
  }

  onCall(callId: string, listener: () => void): () => void {
    return this.#memory.callListeners.on(callId, listener);
  }

  onWorker(workerId: string, listener: () => void): () => void {
    return this.#memory.workerListeners.on(workerId, listener);
  }

  onExpected(workerId: string, listener: (lane: Lane) => void): () => void {
    return this.#memory.expectations.on(workerId, listener);
  }

  onLoss(listener: (loss: Loss) => void): () => void {
    return this.#memory.losses.on(listener);
  }

  #progressOf(callId: string): Progress | undefined {
    const state = this.#memory.calls.get(callId)?.state;
    if (state === undefined) return undefined;
    return isEnded(state) ? state.end : { how: 'open', state: state.name };
  }

  close(): Promise<void> {
    this.#memory.close();
    return Promise.resolve();
  }
}
