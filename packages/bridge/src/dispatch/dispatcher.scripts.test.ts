import { CodelanesError } from '@codelanes/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../scheduler/manual-clock.js';
import { MemoryStore } from '../scheduler/memory-store.js';
import { defaultSchedulerSettings } from '../scheduler/scheduler-settings.js';
import { waitsForTool, WorkerAtStore } from '../scheduler/testing/worker-at-store.js';
import { Dispatcher } from './dispatcher.js';

const lane = ['primary', 'worktree:a'] as const;
const answered = waitsForTool.toolCalls.map(({ id }) => id);
const { signal } = new AbortController();

let store: MemoryStore;
let dispatcher: Dispatcher;
let worker: WorkerAtStore;

beforeEach(async () => {
  const clock = new ManualClock();
  store = new MemoryStore(defaultSchedulerSettings, clock);
  const times = { leaseTtlMs: 30_000, settlementGraceMs: 10_000 };
  dispatcher = new Dispatcher(store, times, { signalOf: () => signal });
  worker = new WorkerAtStore({ store, clock });
  await worker.register();
});

afterEach(async () => {
  await store.close();
});

describe('a script that goes on', () => {
  it('is told of its next pause', async () => {
    const callId = await worker.pausedScript(lane);
    const results = answered.map((id) => ({ callId: id, result: 'found' }));
    const resume = vi.fn(async () => {
      await store.resume(callId, results);
    });
    const end = dispatcher.resumeScript(
      { callId, workerId: worker.workerId, lane, answered },
      resume,
      signal,
    );
    await expect.poll(() => resume).toHaveResolved();
    await worker.fetch();
    const toolCalls = [{ id: 'call_2', name: 'look up', input: {} }];
    await worker.pause(callId, { status: 'paused', toolCalls, stdout: '' });
    expect(await end).toMatchObject({ how: 'paused', pause: { toolCalls } });
  });

  it('is not called one that did not start where its bridge is stopping: it has run, and is ended', async () => {
    const callId = await worker.pausedScript(lane);
    await dispatcher.stop(60_000);
    const resume = vi.fn(() => Promise.resolve());
    const end = dispatcher.resumeScript(
      { callId, workerId: worker.workerId, lane, answered },
      resume,
      signal,
    );
    await expect(end).rejects.toMatchObject({ code: 'ASSIGNMENT_EXPIRED' });
    await expect(end).rejects.toThrow(/script had run, and the bridge was stopping/);
    expect(resume).not.toHaveBeenCalled();
    await expect.poll(async () => (await store.call(callId))?.view.state).toBe('settled');
  });

  it('is seen through where its store is lost before it says that it has let the script go on', async () => {
    const callId = await worker.pausedScript(lane);
    const results = answered.map((id) => ({ callId: id, result: 'found' }));
    const resume = vi.fn(async () => {
      await store.resume(callId, results);
      throw new CodelanesError('STORE_UNAVAILABLE', 'The bridge cannot reach its Redis.');
    });
    const end = dispatcher.resumeScript(
      { callId, workerId: worker.workerId, lane, answered },
      resume,
      signal,
    );
    await expect.poll(async () => (await worker.fetch()).calls, { timeout: 30_000 }).toEqual([callId]);
    await worker.settle(callId);
    expect(await end).toMatchObject({ how: 'settled' });
  });

  it('is none that never ran where its store was lost before it went on, and is ended', async () => {
    const callId = await worker.pausedScript(lane);
    const lost = new CodelanesError('STORE_UNAVAILABLE', 'The bridge cannot reach its Redis.');
    const end = dispatcher.resumeScript(
      { callId, workerId: worker.workerId, lane, answered },
      () => Promise.reject(lost),
      signal,
    );
    await expect(end).rejects.toMatchObject({ code: 'ASSIGNMENT_EXPIRED' });
    expect((await store.call(callId))?.view.state).toBe('settled');
  });

  it('is stopped where its store has lost that: told once more, its caller would run the tools twice', async () => {
    const callId = await worker.pausedScript(lane);
    const forget = () => Promise.resolve();
    const end = dispatcher.resumeScript(
      { callId, workerId: worker.workerId, lane, answered },
      forget,
      signal,
    );
    await expect(end).rejects.toMatchObject({ code: 'ASSIGNMENT_EXPIRED' });
    expect((await store.call(callId))?.view.state).toBe('settled');
  });
});
