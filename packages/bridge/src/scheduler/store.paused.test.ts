import { beforeEach, describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { done, idOf, setupTimeoutMs, waitsForTool, WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const root = ['primary'] as const;
const results = [{ callId: 'call_1', result: 'found' }];

describe.each(storesUnderTest)('a script that waits for its tools at the $name store', ({ make }) => {
  let worker: WorkerAtStore;
  beforeEach(async () => {
    worker = new WorkerAtStore(await make({ queueLength: 3, principalQueueLength: 3 }));
    await worker.register();
  });

  it('holds neither its lane nor a slot, and tells what it waits for', async () => {
    await worker.register({ slots: 1 });
    const script = await worker.runScript(a);
    const next = await worker.submit(a);
    expect(await worker.stateOf(next)).toBe('waiting');
    expect(await worker.store.paused(script)).toBeUndefined();
    expect(await worker.pause(script)).toBe(true);
    expect(await worker.stateOf(script)).toBe('paused');
    expect(await worker.store.end(script)).toBeUndefined();
    worker.clock.advance(1_500);
    const { toolCalls, stdout } = waitsForTool;
    const told = { callId: script, workerId: 'worker', principal: 'ann', toolCalls, stdout, pausedMs: 1_500 };
    expect(await worker.store.paused(script)).toEqual(told);
    expect((await worker.fetch()).calls).toEqual([next]);
  });

  it('is shown beside what runs and waits, and counted nowhere', async () => {
    const script = await worker.pausedScript(a);
    worker.clock.advance(2_000);
    expect(await worker.store.load('worker')).toEqual({ running: [], waiting: [] });
    const view = await worker.store.lanes('worker');
    expect(view).toMatchObject({ slots: { used: 0 }, running: [], waiting: [] });
    const shown = { lane: a, mode: 'exclusive', pool: 'command', operation: 'run_script', principal: 'ann' };
    expect(view?.paused).toEqual([{ ...shown, callId: script, sinceMs: 2_000 }]);
    await worker.resume(script);
    expect(await worker.store.lanes('worker')).toMatchObject({ running: [{ callId: script }], paused: [] });
  });

  it('is told to whoever listens, and so is that it goes on', async () => {
    const script = await worker.runScript(a);
    const rings: unknown[] = [];
    worker.store.onCall(script, () => rings.push('ring'));
    await worker.pause(script);
    await expect.poll(() => rings).not.toEqual([]);
    const before = rings.length;
    await worker.resume(script);
    await expect.poll(() => rings.length).toBeGreaterThan(before);
  });

  it('goes on as the same call, with what its tools came to, under a lease of its own', async () => {
    const trace = { requestId: 'request', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
    const script = await worker.pausedScript(a, { trace });
    const first = worker.lease(script);
    expect(await worker.resume(script)).toBe('resumed');
    expect((await worker.fetch()).calls).toEqual([script]);
    const assigned = worker.assignments.get(script);
    const request = {
      protocolVersion: 1,
      operation: 'resume_script',
      workspaceId: 'primary',
      worktree: 'a',
      results,
    };
    expect(assigned).toMatchObject({
      lane: a,
      mode: 'exclusive',
      pool: 'command',
      executionMs: 1_000,
      ...trace,
    });
    expect(assigned?.request).toEqual(request);
    expect(assigned?.token).not.toBe(first.token);
    expect((await worker.store.settle(worker.fence, first, done)).accepted).toBe(false);
    await worker.report('started', script);
    expect(await worker.stateOf(script)).toBe('running');
    expect(await worker.settle(script)).toBe(true);
    expect(await worker.store.end(script)).toEqual({ how: 'settled', settlement: done, cancelled: false });
  });

  it('waits for tools as often as it calls some', async () => {
    const script = await worker.pausedScript(a);
    for (let round = 2; round <= 4; round += 1) {
      await worker.resume(script);
      await worker.fetch();
      await worker.report('started', script);
      const said = { ...waitsForTool, stdout: `round ${round}` };
      expect(await worker.pause(script, said)).toBe(true);
      expect(await worker.store.paused(script)).toMatchObject({ stdout: said.stdout, pausedMs: 0 });
    }
    const failed = [{ callId: 'call_1', error: 'It has no such tool.' }];
    await worker.store.resume(script, failed);
    await worker.fetch();
    expect(worker.assignments.get(script)?.request).toMatchObject({
      operation: 'resume_script',
      results: failed,
    });
  });

  it('goes on each time, whatever its tools came to looks like', async () => {
    const script = await worker.pausedScript(a);
    const parts = { request: { results: [], request: 1 }, results: { request: '"request":' } };
    const came = [{ callId: 'call_1', result: { ...parts, 'a "request":': '\\"results":' } }];
    for (let round = 1; round <= 3; round += 1) {
      expect(await worker.store.resume(script, came)).toBe('resumed');
      expect((await worker.fetch()).calls).toEqual([script]);
      expect(worker.assignments.get(script)).toMatchObject({
        executionMs: 1_000,
        request: { results: came },
      });
      await worker.report('started', script);
      expect(await worker.pause(script)).toBe(true);
    }
  });

  it('lets the very tool that it called have its lane, and waits for it after that', async () => {
    const script = await worker.pausedScript(a);
    const tool = await worker.submit(a);
    expect((await worker.fetch()).calls).toEqual([tool]);
    await worker.report('started', tool);
    await worker.resume(script);
    expect((await worker.store.call(script))?.view).toMatchObject({
      state: 'waiting',
      sinceMs: 0,
      waiting: { position: 1, blockers: [{ callId: tool, state: 'running' }] },
    });
    await worker.settle(tool);
    expect((await worker.fetch()).calls).toEqual([script]);
  });

  describe('and was resumed', () => {
    it('is ahead of all that was submitted after it, also of what only waited for a slot', async () => {
      await worker.register({ slots: 1 });
      const script = await worker.pausedScript(a);
      const inB = await worker.run(b);
      const [younger, checkout] = [await worker.submit(a), await worker.submit(root)];
      await worker.resume(script);
      expect(await worker.stateOf(script)).toBe('waiting');
      await worker.settle(inB);
      for (const next of [script, younger, checkout]) {
        expect((await worker.fetch()).calls).toEqual([next]);
        await worker.settle(next);
      }
    });

    it('holds no read back that may pass what waits for the setup of its lane', async () => {
      await worker.register({ filePool: 1 });
      const script = await worker.pausedScript(a);
      const inB = await worker.run(b, { pool: 'file' });
      await worker.unready(a);
      const read = await worker.submit(a, { pool: 'file', mode: 'shared' });
      await worker.resume(script);
      await worker.fetch();
      await worker.settle(inB);
      expect((await worker.fetch()).calls).toEqual([read]);
      expect(await worker.stateOf(script)).toBe('waiting');
    });

    it('waits behind the setup of its lane where its worker says that it must be set up', async () => {
      const script = await worker.pausedScript(a);
      await worker.resume(script);
      await worker.fetch();
      const setup = await worker.unready(a, script);
      expect((await worker.fetch()).calls).toEqual([setup]);
      expect(worker.assignments.get(setup)?.executionMs).toBe(setupTimeoutMs + 60_000);
      await worker.settle(setup);
      expect((await worker.fetch()).calls).toEqual([script]);
    });

    it('is taken in however full the queue is', async () => {
      const script = await worker.pausedScript(a);
      await worker.run(root);
      for (let waits = 0; waits < 3; waits += 1) await worker.submit(b);
      expect(await worker.store.submit(worker.newCall(b))).toMatchObject({ ok: false });
      expect(await worker.resume(script)).toBe('resumed');
    });

    it('cannot be resumed a second time, nor can what is not paused or not known', async () => {
      const script = await worker.runScript(a);
      expect(await worker.resume(script)).toBe('not_paused');
      await worker.pause(script);
      expect(await worker.resume(script)).toBe('resumed');
      expect(await worker.store.resume(script, [{ callId: 'call_1', error: 'late' }])).toBe('not_paused');
      expect(await worker.resume(idOf(1))).toBeUndefined();
      expect(await worker.store.paused(idOf(1))).toBeUndefined();
      await worker.fetch();
      expect(worker.assignments.get(script)?.request).toMatchObject({ results });
    });

    it('takes the results of the tools that it waits for, in any order, and of no earlier pause', async () => {
      const script = await worker.pausedScript(a);
      await worker.resume(script);
      await worker.fetch();
      const [first] = waitsForTool.toolCalls;
      const toolCalls = ['call_2', 'call_3'].map((id) => ({ name: 'look up', input: {}, ...first, id }));
      await worker.pause(script, { ...waitsForTool, toolCalls });
      expect(await worker.resume(script)).toBe('not_paused');
      const one = { callId: 'call_2', result: 2 };
      expect(await worker.store.resume(script, [one])).toBe('not_paused');
      expect(await worker.stateOf(script)).toBe('paused');
      expect(await worker.store.resume(script, [{ callId: 'call_3', error: 'no' }, one])).toBe('resumed');
    });

    it('returns to its place with its results when its worker is busy, or does not fetch it in time', async () => {
      const script = await worker.pausedScript(a);
      const younger = worker.newCall(a);
      await worker.resume(script);
      await worker.store.submit(younger);
      worker.clock.advance(2_000);
      expect(await worker.stateOf(script)).toBe('waiting');
      await worker.fetch();
      await worker.report('busy', script);
      expect((await worker.fetch()).calls).toEqual([]);
      await worker.freed();
      expect((await worker.fetch()).calls).toEqual([script]);
      expect(worker.assignments.get(script)?.request).toMatchObject({ operation: 'resume_script', results });
      await worker.settle(script);
      expect((await worker.fetch()).calls).toEqual([younger.callId]);
    });

    it.each(['waiting', 'reserved'] as const)(
      'is interrupted where it leaves the queue while it is %s, as it ran before, and keeps no place',
      async (state) => {
        const script = await worker.pausedScript(a);
        const tool = state === 'waiting' ? await worker.run(a) : undefined;
        await worker.resume(script);
        expect(await worker.stateOf(script)).toBe(state);
        const left = await worker.store.withdraw(script, 'deadline');
        expect(left).toEqual({ withdrawn: false, state: 'interrupted' });
        expect(await worker.store.end(script)).toMatchObject({ how: 'interrupted' });
        if (tool !== undefined) await worker.settle(tool);
        const next = await worker.submit(a);
        expect(await worker.fetch()).toEqual({ calls: [next], cancellations: [script] });
      },
    );

    it('is interrupted where the journal denies its start, as it ran before', async () => {
      const script = await worker.pausedScript(a);
      await worker.resume(script);
      await worker.fetch();
      expect(await worker.restart()).toEqual({ ok: true, unresolved: [script] });
      await worker.resolve('denied', script);
      expect(await worker.store.end(script)).toMatchObject({ how: 'interrupted' });
      expect((await worker.fetch()).calls).toEqual([]);
    });
  });

  describe('and is not in the queue', () => {
    it('cannot leave it', async () => {
      const script = await worker.pausedScript(a);
      expect(await worker.store.withdraw(script, 'caller_gone')).toEqual({
        withdrawn: false,
        state: 'paused',
      });
      expect(await worker.stateOf(script)).toBe('paused');
    });

    it('is paused again by the same word of its worker as often as that is repeated, and by no other', async () => {
      const script = await worker.runScript(a);
      const first = worker.lease(script);
      const say = async (said = waitsForTool, token = first.token) =>
        (await worker.store.settle(worker.fence, { ...first, token }, said)).accepted;
      expect(await say()).toBe(true);
      expect(await say()).toBe(true);
      expect(await say({ ...waitsForTool, stdout: 'other' })).toBe(false);
      expect(await say(waitsForTool, 'f'.repeat(64))).toBe(false);
      await worker.resume(script);
      expect(await say()).toBe(true);
      await worker.fetch();
      await worker.report('started', script);
      expect(await say()).toBe(true);
      expect(await worker.stateOf(script)).toBe('running');
      await worker.settle(script);
      expect(await say()).toBe(false);
    });

    it('is not fenced by the report of its start where that comes after its pause', async () => {
      const script = await worker.runScript(a);
      const started = { ...worker.lease(script), state: 'started' as const };
      await worker.pause(script);
      expect(await worker.store.report(worker.fence, [started])).toEqual({ fenced: [] });
      expect(await worker.stateOf(script)).toBe('paused');
      await worker.resume(script);
      await worker.fetch();
      expect(await worker.store.report(worker.fence, [started])).toEqual({ fenced: [] });
      expect(await worker.stateOf(script)).toBe('delivered');
      const forged = { ...started, token: 'f'.repeat(64) };
      expect(await worker.store.report(worker.fence, [forged])).toEqual({ fenced: [script] });
    });
  });

  it('is not paused where it is no script, or is cancelled by then', async () => {
    const command = await worker.run(b);
    expect(await worker.pause(command)).toBe(false);
    expect(await worker.stateOf(command)).toBe('running');
    const script = await worker.runScript(a);
    await worker.store.cancel(script);
    expect(await worker.pause(script)).toBe(false);
    expect(await worker.pause(script)).toBe(false);
    expect(await worker.store.end(script)).toMatchObject({
      how: 'settled',
      cancelled: true,
      settlement: { status: 'rejected', error: { code: 'EXECUTION_ABORTED' } },
    });
    const next = await worker.submit(a);
    expect((await worker.fetch()).calls).toEqual([next]);
  });

  it('has its times apart from those of its tools', async () => {
    const tool = await worker.run(a);
    const call = worker.newScript(a);
    await worker.store.submit(call);
    worker.clock.advance(1_000);
    await worker.settle(tool);
    await worker.fetch();
    await worker.report('started', call.callId);
    for (let round = 0; round < 2; round += 1) {
      worker.clock.advance(200);
      await worker.pause(call.callId);
      worker.clock.advance(5_000);
      const between = await worker.run(a);
      await worker.resume(call.callId);
      worker.clock.advance(700);
      await worker.settle(between);
      await worker.fetch();
      await worker.report('busy', call.callId);
      worker.clock.advance(90);
      await worker.freed();
      await worker.fetch();
      await worker.report('started', call.callId);
    }
    worker.clock.advance(30);
    expect(await worker.store.settle(worker.fence, worker.lease(call.callId), done)).toEqual({
      accepted: true,
      timing: { operation: 'run_script', queuedMs: 1_000, totalMs: 1_430, wasPaused: true },
    });
  });
});
