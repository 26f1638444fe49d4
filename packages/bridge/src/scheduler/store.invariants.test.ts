import type { HeldCall } from '@codelanes/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { done, idOf, WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const root = ['primary'] as const;

describe.each(storesUnderTest)('what must hold at the $name store', ({ make }) => {
  let worker: WorkerAtStore;
  beforeEach(async () => {
    worker = new WorkerAtStore(await make());
    await worker.register();
  });

  describe('1: never two conflicting calls, whatever dies', () => {
    it('counts what a worker holds as running after the bridge lost its memory', async () => {
      const held = await worker.run(a);
      const after = new WorkerAtStore(await make());
      expect(await after.register({ holds: [worker.hold(held)] })).toEqual({ ok: true, unresolved: [] });
      const inA = await after.submit(a);
      const inB = await after.submit(b);
      expect((await after.fetch()).calls).toEqual([inB]);
      expect(await after.store.settle(after.fence, worker.lease(held), done)).toEqual({ accepted: true });
      expect((await after.fetch()).calls).toEqual([inA]);
    });

    it('takes the end of a call that waits here while its worker holds it, and gives its lane to the next', async () => {
      const runs = await worker.run(a);
      const waits = await worker.submit(a);
      worker.clock.advance(5);
      const lease = { callId: waits, generation: 7, token: 'ab'.repeat(32) };
      const held: HeldCall = { ...lease, lane: [...a], mode: 'exclusive', pool: 'command' };
      await worker.register({ holds: [held] });
      await worker.resolve('interrupted', runs);
      const next = await worker.submit(a);
      worker.clock.advance(7);
      expect(await worker.stateOf(waits)).toBe('running');
      expect(await worker.store.settle(worker.fence, lease, done)).toMatchObject({
        accepted: true,
        timing: { queuedMs: 5, totalMs: 12 },
      });
      expect(await worker.store.end(waits)).toMatchObject({ how: 'settled' });
      expect((await worker.fetch()).calls).toEqual([next]);
    });

    it('has a call stopped whose caller went away with the bridge that lost its memory', async () => {
      const held = await worker.run(a);
      const after = new WorkerAtStore(await make());
      await after.register({ holds: [worker.hold(held)] });
      expect(await after.stateOf(held)).toBe('cancelling');
      expect(await after.fetch()).toEqual({ calls: [], cancellations: [held] });
    });

    it('keeps what a restarted worker still holds, and gives its lane to nobody', async () => {
      const [held, waits] = [await worker.run(a), await worker.submit(root)];
      expect(await worker.restart([worker.hold(held)])).toEqual({ ok: true, unresolved: [] });
      expect(await worker.stateOf(held)).toBe('running');
      expect((await worker.fetch()).calls).toEqual([]);
      expect(await worker.settle(held)).toBe(true);
      expect((await worker.fetch()).calls).toEqual([waits]);
    });

    it('counts as running what a restarted worker does not hold, until its journal has spoken', async () => {
      const [lost, waits] = [await worker.run(a), await worker.submit(a)];
      expect(await worker.restart()).toEqual({ ok: true, unresolved: [lost] });
      expect(await worker.register()).toEqual({ ok: true, unresolved: [lost] });
      expect((await worker.fetch()).calls).toEqual([]);
      await worker.resolve('interrupted', lost);
      expect((await worker.fetch()).calls).toEqual([waits]);
    });

    it('keeps the lane of a call that has ended for its caller, but that the worker still holds', async () => {
      const [held, waits] = [await worker.run(a), await worker.submit(root)];
      worker.clock.advance(30_000);
      expect(await worker.stateOf(held)).toBe('interrupted');
      await worker.restart([worker.hold(held)]);
      expect(await worker.fetch()).toEqual({ calls: [], cancellations: [held] });
      expect(await worker.settle(held)).toBe(false);
      expect((await worker.fetch()).calls).toEqual([waits]);
    });

    it('returns what was reserved for an earlier start of the worker, in its order', async () => {
      const [first, second] = [await worker.submit(a), await worker.submit(b)];
      await worker.restart();
      expect((await worker.fetch()).calls).toEqual([first, second]);
    });

    it('asks a worker about what it fetched and does not list: the reply that brought it may be lost', async () => {
      const callId = await worker.submit(a);
      await worker.fetch();
      expect(await worker.register()).toEqual({ ok: true, unresolved: [callId] });
      await worker.resolve('denied', callId);
      expect((await worker.fetch()).calls).toEqual([callId]);
    });

    it('ends nothing when slots shrink, and starts nothing above them', async () => {
      const running = [await worker.run(a), await worker.run(b)];
      const waits = await worker.submit(['tools']);
      await worker.register({ slots: 1, holds: running.map((id) => worker.hold(id)) });
      expect(await Promise.all(running.map((id) => worker.stateOf(id)))).toEqual(['running', 'running']);
      await worker.settle(running[0] ?? '');
      expect((await worker.fetch()).calls).toEqual([]);
      await worker.settle(running[1] ?? '');
      expect((await worker.fetch()).calls).toEqual([waits]);
    });
  });

  it('2: says of a withdrawn call that it never ran, of an interrupted one that nobody knows', async () => {
    const [runs, waits] = [await worker.run(a), await worker.submit(a)];
    await worker.store.withdraw(waits, 'deadline');
    worker.clock.advance(30_000);
    expect(await worker.store.end(waits)).toEqual({ how: 'withdrawn', why: 'deadline' });
    expect(await worker.store.end(runs)).toMatchObject({ how: 'interrupted' });
  });

  describe('3: the token fences', () => {
    it('takes a settlement once, the same one again, and never another', async () => {
      const callId = await worker.run(a);
      const other = { status: 'rejected', error: { code: 'INVALID_PATH', message: 'No.' } } as const;
      expect(await worker.settle(callId)).toBe(true);
      expect(await worker.settle(callId)).toBe(true);
      expect(await worker.settle(callId, other)).toBe(false);
      expect(await worker.store.end(callId)).toMatchObject({ settlement: done });
    });

    it('takes neither a start nor a settlement under a guessed token, though the generation is right', async () => {
      const callId = await worker.submit(a);
      await worker.fetch();
      const forged = { ...worker.lease(callId), token: '0'.repeat(64) };
      const report = { ...forged, state: 'started' } as const;
      expect(await worker.store.report(worker.fence, [report])).toEqual({ fenced: [callId] });
      expect(await worker.store.settle(worker.fence, forged, done)).toEqual({ accepted: false });
      expect(await worker.stateOf(callId)).toBe('delivered');
    });

    it('gives every delivery a generation and a token of its own', async () => {
      const callId = await worker.submit(a);
      await worker.fetch();
      const first = worker.lease(callId);
      await worker.report('busy', callId);
      await worker.freed();
      await worker.fetch();
      const second = worker.lease(callId);
      expect(second.generation).toBeGreaterThan(first.generation);
      expect(second.token).not.toBe(first.token);
      expect(await worker.store.settle(worker.fence, first, done)).toEqual({ accepted: false });
    });

    it('refuses an earlier start of the worker, and one that never registered', async () => {
      const earlier = worker.registration;
      await worker.restart();
      for (const ask of [
        worker.store.fetch(earlier),
        worker.store.renew(earlier, []),
        worker.store.report(earlier, [{ state: 'freed' }]),
      ]) {
        expect(await ask).toMatchObject({ error: { code: 'WORKER_FENCED' } });
      }
      const stranger = { workerId: 'stranger', incarnationId: idOf(1), registrationId: idOf(1) };
      expect(await worker.store.fetch(stranger)).toMatchObject({ error: { code: 'WORKER_NOT_FOUND' } });
    });

    it('hands nothing to a poll that is still open from before the same start registered anew', async () => {
      const stale = worker.registration;
      await worker.register();
      const callId = await worker.submit(a);
      expect(await worker.store.fetch(stale)).toMatchObject({ error: { code: 'WORKER_NOT_FOUND' } });
      expect((await worker.fetch()).calls).toEqual([callId]);
    });
  });

  it('4: goes on when whoever asked is gone: a waiting call starts without anybody looking at it', async () => {
    const [first, second] = [await worker.run(a), await worker.submit(a)];
    await worker.settle(first);
    expect((await worker.fetch()).calls).toEqual([second]);
  });

  it('[T73] 5: counts nothing that has no lease: after any end the pools are empty', async () => {
    const settled = await worker.run(a);
    await worker.settle(settled);
    await worker.settle(settled);
    await worker.run(a);
    worker.clock.advance(30_000);
    await worker.restart();
    const dropped = await worker.submit(b);
    await worker.store.cancel(dropped);
    await worker.store.cancel(dropped);
    expect(await worker.store.lanes('worker')).toMatchObject({
      slots: { used: 0, of: 2 },
      files: { used: 0, of: 2 },
      running: [],
      waiting: [],
    });
  });

  it('6: lets a restart of the same journal in at once, and any journal once the lease has ended', async () => {
    expect(await worker.restart()).toMatchObject({ ok: true });
    const other = { incarnationId: idOf(9), journalId: idOf(0xb) };
    expect(await worker.register(other)).toMatchObject({ error: { code: 'WORKER_FENCED' } });
    worker.clock.advance(30_000);
    expect(await worker.register(other)).toMatchObject({ ok: true });
  });
});
