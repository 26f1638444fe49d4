import { randomUUID } from 'node:crypto';
import type { CallView, Capabilities, LanesView } from '@codelanes/protocol';
import type { CallCount, OwnedCallView, WorkerLoad, WorkerView } from '../store.js';
import { closedLanesView } from '../closed-lanes.js';
import type { CallRecord } from './call-record.js';
import { isOnline, leaseExpiresInMs } from './liveness.js';
import type { Memory } from './memory.js';
import { waitingReason } from './waiting-reason.js';
import type { WorkerRecord } from './worker-record.js';

/** What is known of a worker. */
export function viewWorker(memory: Memory, workerId: string): WorkerView | undefined {
  const worker = memory.workers.get(workerId);
  if (worker === undefined) return undefined;
  return {
    online: isOnline(memory, worker),
    leaseExpiresInMs: leaseExpiresInMs(memory, worker),
    capabilities: worker.registration.capabilities,
    capabilitiesId: capabilitiesIdOf(worker),
  };
}

const capabilitiesIds = new WeakMap<Capabilities, string>();

/** Every registration brings capabilities of its own. */
export function capabilitiesIdOf({ registration: { capabilities } }: WorkerRecord): string {
  const known = capabilitiesIds.get(capabilities);
  if (known !== undefined) return known;
  const made = randomUUID();
  capabilitiesIds.set(capabilities, made);
  return made;
}

/** How much runs and waits at a worker. */
export function viewLoad(memory: Memory, workerId: string): WorkerLoad | undefined {
  const worker = memory.workers.get(workerId);
  if (worker === undefined) return undefined;
  const occupying = [...worker.leases.values(), ...worker.reserved].flatMap(({ callId, claim }) =>
    claim === undefined ? [] : [{ operation: memory.calls.get(callId)?.operation, pool: claim.pool }],
  );
  return {
    running: (['command', 'file'] as const).flatMap((pool) =>
      countsOf(occupying.filter((call) => call.pool === pool)).map((count) => ({ ...count, pool })),
    ),
    waiting: countsOf([...worker.waitingCalls]),
  };
}

function countsOf(calls: readonly Pick<CallCount, 'operation'>[]): CallCount[] {
  const counts = new Map<CallCount['operation'], number>();
  for (const { operation } of calls) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  return [...counts].map(([operation, number]) => ({ operation, calls: number }));
}

/** One call as its own caller may see it. */
export function viewCall(memory: Memory, callId: string): OwnedCallView | undefined {
  const record = memory.calls.get(callId);
  if (record === undefined) return undefined;
  const { state, lane, principal, revision } = record;
  const view: CallView = {
    callId,
    state: state.name,
    lane,
    sinceMs: age(memory, record),
    revision,
    ...(state.name === 'waiting' ? { waiting: waitingReason(memory, record) } : {}),
  };
  return { workerId: record.worker.workerId, principal, view };
}

/** Everything of one worker, for an administrator; instruction reads take no lane and are not among it. */
export function viewLanes(memory: Memory, workerId: string): LanesView | undefined {
  const worker = memory.workers.get(workerId);
  if (worker === undefined) return undefined;
  const running: LanesView['running'] = [];
  const waiting: LanesView['waiting'] = [];
  const paused: LanesView['paused'] = [];
  const leased = [...worker.leases.keys()].map((callId) => memory.calls.get(callId));
  for (const record of [...leased, ...worker.reserved, ...worker.waitingCalls]) {
    const listed = record === undefined ? undefined : listedCall(memory, record);
    if (record === undefined || listed === undefined) continue;
    const { name } = record.state;
    if (name === 'waiting')
      waiting.push({ ...listed, waiting: waitingReason(memory, record, 'administrator') });
    else if (name === 'reserved' || name === 'delivered' || name === 'running' || name === 'cancelling') {
      running.push({ ...listed, state: name });
    }
  }
  for (const record of worker.pausedScripts) {
    const listed = record.state.name === 'paused' ? listedCall(memory, record) : undefined;
    if (listed !== undefined) paused.push(listed);
  }
  waiting.sort((one, other) => one.waiting.position - other.waiting.position);
  return {
    workerId,
    online: isOnline(memory, worker),
    slots: { used: worker.running.inPool('command'), of: worker.room.slots },
    files: { used: worker.running.inPool('file'), of: worker.room.filePool },
    running,
    waiting,
    paused,
    ...closedLanesView(worker.closed.lanes, Math.floor(memory.clock.now() - worker.closed.toldAt)),
  };
}

function listedCall(memory: Memory, record: CallRecord) {
  const { callId, lane, claim, principal, operation, boundMs } = record;
  if (claim === undefined) return undefined;
  return {
    callId,
    lane,
    mode: claim.mode,
    pool: claim.pool,
    ...(operation === undefined ? {} : { operation }),
    ...(boundMs === undefined ? {} : { boundMs }),
    principal,
    sinceMs: age(memory, record),
  };
}

function age(memory: Memory, record: CallRecord): number {
  return Math.floor(memory.clock.now() - record.since);
}
