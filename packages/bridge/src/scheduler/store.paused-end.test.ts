import { beforeEach, describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const pausedMs = 300_000;

describe.each(storesUnderTest)(
  'the end of a script that waits for its tools at the $name store',
  ({ make }) => {
    let worker: WorkerAtStore;
    beforeEach(async () => {
      worker = new WorkerAtStore(await make());
      await worker.register();
    });

    describe('that nobody answers in time', () => {
      it('is an interruption, of which its worker is told', async () => {
        const script = await worker.pausedScript(a);
        worker.clock.advance(pausedMs - 1);
        expect(await worker.stateOf(script)).toBe('paused');
        worker.clock.advance(1);
        expect(await worker.store.end(script)).toMatchObject({ how: 'interrupted' });
        expect(await worker.resume(script)).toBe('not_paused');
        expect((await worker.fetch()).cancellations).toEqual([script]);
      });

      it('is so too while it waits for its lane', async () => {
        const script = await worker.pausedScript(a);
        const tool = await worker.run(a);
        await worker.resume(script);
        for (let left = pausedMs; left > 0; left -= 10_000) {
          worker.clock.advance(10_000);
          await worker.renew(tool);
        }
        expect(await worker.store.end(script)).toMatchObject({ how: 'interrupted' });
        expect((await worker.fetch()).cancellations).toEqual([script]);
      });

      it('does not come once the script goes on, and anew with each pause', async () => {
        const script = await worker.pausedScript(a);
        worker.clock.advance(pausedMs - 1);
        await worker.resume(script);
        await worker.fetch();
        worker.clock.advance(10_000);
        expect(await worker.stateOf(script)).toBe('delivered');
        await worker.report('started', script);
        await worker.pause(script);
        worker.clock.advance(pausedMs - 1);
        expect(await worker.stateOf(script)).toBe('paused');
      });

      it('comes with the answer `busy` where its time is over by then', async () => {
        const script = await worker.pausedScript(a);
        worker.clock.advance(pausedMs - 1);
        await worker.resume(script);
        await worker.fetch();
        worker.clock.advance(1);
        await worker.report('busy', script);
        expect(await worker.store.end(script)).toMatchObject({ how: 'interrupted' });
      });
    });

    describe('on request', () => {
      const stopped = {
        how: 'settled',
        cancelled: true,
        settlement: { status: 'rejected', error: { code: 'EXECUTION_ABORTED' } },
      };

      it('is at once, and told to its worker by one poll and, for the life of a lease, by every renewal', async () => {
        const script = await worker.pausedScript(a);
        const inB = await worker.run(b);
        const rings: unknown[] = [];
        worker.store.onWorker('worker', () => rings.push('ring'));
        expect(await worker.store.cancel(script)).toBe('settled');
        await expect.poll(() => rings).not.toEqual([]);
        expect(await worker.store.end(script)).toMatchObject(stopped);
        expect(await worker.store.cancel(script)).toBe('settled');
        expect((await worker.fetch()).cancellations).toEqual([script]);
        expect((await worker.fetch()).cancellations).toEqual([]);
        worker.clock.advance(20_000);
        expect((await worker.renew(inB)).cancellations).toEqual([script]);
        expect((await worker.renew(inB)).cancellations).toEqual([script]);
        worker.clock.advance(10_000);
        expect((await worker.renew(inB)).cancellations).toEqual([]);
      });

      it.each(['waiting', 'reserved'] as const)('is so too while it is %s to go on', async (state) => {
        const script = await worker.pausedScript(a);
        if (state === 'waiting') await worker.run(a);
        await worker.resume(script);
        expect(await worker.stateOf(script)).toBe(state);
        expect(await worker.store.cancel(script)).toBe('settled');
        expect(await worker.store.end(script)).toMatchObject(stopped);
        expect(await worker.fetch()).toEqual({ calls: [], cancellations: [script] });
      });

      it('is its worker’s to say once it was handed over, whatever that says', async () => {
        const script = await worker.pausedScript(a);
        await worker.resume(script);
        await worker.fetch();
        expect(await worker.store.cancel(script)).toBe('cancelling');
        await worker.report('busy', script);
        expect(await worker.store.end(script)).toMatchObject(stopped);
      });
    });

    describe('with its worker', () => {
      it('is an interruption at another start, of what is paused and of what waits to go on', async () => {
        await worker.register({ slots: 4 });
        const paused = await worker.pausedScript(a);
        const [waiting, reserved] = [await worker.pausedScript(b), await worker.pausedScript(['tools'])];
        const inB = await worker.run(b);
        await worker.resume(waiting);
        await worker.resume(reserved);
        expect([await worker.stateOf(waiting), await worker.stateOf(reserved)]).toEqual([
          'waiting',
          'reserved',
        ]);
        await worker.restart([worker.hold(inB)], { slots: 4 });
        for (const script of [paused, waiting, reserved]) {
          expect(await worker.store.end(script)).toMatchObject({ how: 'interrupted' });
        }
        expect(await worker.fetch()).toEqual({ calls: [], cancellations: [] });
        expect(await worker.settle(inB)).toBe(true);
        expect((await worker.fetch()).calls).toEqual([]);
      });

      it('does not come with a registration of the same start', async () => {
        const script = await worker.pausedScript(a);
        await worker.register({ slots: 4 });
        expect(await worker.resume(script)).toBe('resumed');
        await worker.register();
        expect((await worker.fetch()).calls).toEqual([script]);
      });

      it('does not come where that lists the lease of a pause whose answer it has not read', async () => {
        const script = await worker.runScript(a);
        const held = worker.hold(script);
        await worker.pause(script);
        expect(await worker.register({ holds: [held] })).toEqual({ ok: true, unresolved: [] });
        expect(await worker.stateOf(script)).toBe('paused');
        const tool = await worker.submit(a);
        expect((await worker.fetch()).calls).toEqual([tool]);
        await worker.resume(script);
        await worker.register({ holds: [held, worker.hold(tool)] });
        expect(await worker.stateOf(script)).toBe('waiting');
      });

      it('comes with its word, under no lease, while it is paused and while it waits to go on', async () => {
        const [paused, waiting] = [await worker.pausedScript(a), await worker.pausedScript(b)];
        await worker.run(b);
        await worker.resume(waiting);
        await worker.resolve('interrupted', paused);
        await worker.resolve('interrupted', waiting);
        for (const script of [paused, waiting]) {
          expect(await worker.store.end(script)).toMatchObject({ how: 'interrupted' });
        }
        expect((await worker.fetch()).cancellations).toEqual([]);
      });
    });
  },
);
