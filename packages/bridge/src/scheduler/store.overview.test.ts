import { beforeEach, describe, expect, it } from 'vitest';
import type { Loss } from './store.js';
import { storesUnderTest } from './testing/stores-under-test.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const root = ['primary'] as const;

describe.each(storesUnderTest)('what the $name store tells of its workers', ({ make }) => {
  let worker: WorkerAtStore;
  beforeEach(async () => {
    worker = new WorkerAtStore(await make({ queueLength: 4, principalQueueLength: 2 }));
    await worker.register();
  });

  it('counts by operation what runs and what waits, without the places that are kept', async () => {
    await worker.run(a);
    await worker.submit(b, { pool: 'file' });
    await worker.submit(a);
    await worker.submit(a, { pool: 'file' });
    const gone = await worker.submit(root, { principal: 'bo' });
    await worker.store.withdraw(gone, 'deadline');
    const { running = [], waiting = [] } = (await worker.store.load('worker')) ?? {};
    expect(new Set(running)).toEqual(
      new Set([
        { pool: 'command', operation: 'execute_command', calls: 1 },
        { pool: 'file', operation: 'read_file', calls: 1 },
      ]),
    );
    expect(new Set(waiting)).toEqual(
      new Set([
        { operation: 'execute_command', calls: 1 },
        { operation: 'read_file', calls: 1 },
      ]),
    );
    expect(await worker.store.load('nobody')).toBeUndefined();
  });

  it('tells once of each call that waited too long or was interrupted, and of no other end', async () => {
    const losses: Loss[] = [];
    const off = worker.store.onLoss((loss) => losses.push(loss));
    await worker.run(a);
    const [late, unwanted] = [await worker.submit(a, { pool: 'file' }), await worker.submit(a)];
    await worker.store.withdraw(late, 'deadline');
    await worker.store.withdraw(late, 'deadline');
    await worker.store.withdraw(unwanted, 'caller_gone');
    expect(losses).toEqual([{ how: 'queue_timeout', operation: 'read_file' }]);
    worker.clock.advance(30_000);
    await worker.store.load('worker');
    await worker.store.load('worker');
    expect(losses.slice(1)).toEqual([{ how: 'interrupted', operation: 'execute_command' }]);
    off();
    await worker.fetch();
    await worker.settle(await worker.run(b));
    await worker.run(b);
    worker.clock.advance(30_000);
    await worker.store.load('worker');
    expect(losses).toHaveLength(2);
  });

  it('lists every worker that registered, by id', async () => {
    const { store, clock } = worker;
    await new WorkerAtStore({ store, clock }, 'another').register();
    expect(await store.workers()).toEqual(['another', 'worker']);
    await expect(store.ready()).resolves.toBeUndefined();
  });

  it('refuses a caller more of the queue than its share, and everybody more than there is', async () => {
    const refusalOf = async (principal: string) => {
      const reply = await worker.store.submit(worker.newCall(a, { principal }));
      return reply.ok ? undefined : reply.error;
    };
    await worker.run(a);
    for (const principal of ['ann', 'ann', 'bo']) await worker.submit(a, { principal });
    expect((await refusalOf('ann'))?.message).toMatch(/one caller may have/);
    await worker.submit(a, { principal: 'bo' });
    expect((await refusalOf('cy'))?.message).toMatch(/is full/);
    expect((await refusalOf('cy'))?.code).toBe('WORKER_QUEUE_FULL');
  });

  it('tells with a settlement where the time of the call went, and of each call once', async () => {
    const first = await worker.run(a);
    const second = await worker.submit(a);
    worker.clock.advance(1_000);
    await worker.settle(first);
    await worker.fetch();
    worker.clock.advance(500);
    const settle = () =>
      worker.store.settle(worker.fence, worker.lease(second), {
        status: 'rejected',
        error: { code: 'NOT_FOUND', message: 'There is no such file.' },
      });
    const timing = { operation: 'execute_command', queuedMs: 1_000, totalMs: 1_500, wasPaused: false };
    expect(await settle()).toEqual({ accepted: true, timing });
    expect((await settle()).timing).toBeUndefined();
  });

  it('shows the lanes that a worker has closed as it last said, growing older', async () => {
    const left = { lane: a, reason: 'A process is left.', sinceMs: 100 };
    const failed = { lane: b, reason: 'It ended with status 3.', sinceMs: 10 };
    const [quarantine, failedSetup] = [
      { ...left, cause: 'quarantine' as const },
      { ...failed, cause: 'failed_setup' as const },
    ];
    await worker.register({ closed: [quarantine, failedSetup] });
    worker.clock.advance(50);
    expect(await worker.store.lanes('worker')).toMatchObject({
      quarantined: [{ ...left, sinceMs: 150 }],
      failedSetups: [{ ...failed, sinceMs: 60 }],
    });
    await worker.store.report(worker.fence, [{ state: 'closed', lanes: [failedSetup] }]);
    const later = await worker.store.lanes('worker');
    expect(later).toMatchObject({ quarantined: [], failedSetups: [failed] });
    await worker.store.report(worker.fence, [{ state: 'closed', lanes: [] }]);
    expect((await worker.store.lanes('worker'))?.failedSetups).toEqual([]);
  });

  it('hands the trace of a call to its worker', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const trace = { requestId: 'r-1', traceparent };
    const call = { ...worker.newCall(a), trace };
    await worker.store.submit(call);
    const fetched = await worker.store.fetch(worker.registration);
    expect(fetched).toMatchObject({ assignments: [{ callId: call.callId, ...trace }] });
  });
});
