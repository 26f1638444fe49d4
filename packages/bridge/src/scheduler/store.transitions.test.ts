import { beforeEach, describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { done, idOf, WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const root = ['primary'] as const;

describe.each(storesUnderTest)('a call at the $name store', ({ make }) => {
  let worker: WorkerAtStore;
  beforeEach(async () => {
    worker = new WorkerAtStore(await make({ queueLength: 3 }));
    await worker.register();
  });

  describe('– → waiting', () => {
    it('is refused while nothing was ever heard of its worker', async () => {
      const call = { ...worker.newCall(a), workerId: 'nobody' };
      expect(await worker.store.submit(call)).toMatchObject({ ok: false, error: { code: 'WORKER_OFFLINE' } });
    });

    it('is refused once its worker was silent for the life of a lease, and taken when it speaks again', async () => {
      worker.clock.advance(29_999);
      await worker.submit(a);
      worker.clock.advance(1);
      expect(await worker.store.submit(worker.newCall(a))).toMatchObject({
        error: { code: 'WORKER_OFFLINE' },
      });
      expect(await worker.store.worker('worker')).toMatchObject({ online: false, leaseExpiresInMs: 0 });
      await worker.fetch();
      await worker.submit(b);
    });

    it('is refused when the queue is full, and when its id is taken', async () => {
      const first = worker.newCall(a);
      await worker.store.submit(first);
      for (let waits = 0; waits < 3; waits += 1) await worker.submit(a);
      expect(await worker.store.submit(worker.newCall(a))).toMatchObject({
        error: { code: 'WORKER_QUEUE_FULL' },
      });
      expect(await worker.store.submit(first)).toMatchObject({ error: { code: 'CALL_ID_TAKEN' } });
    });
  });

  describe('waiting → reserved → delivered → running → settled', () => {
    it('goes its whole way, and every change is told to who listens', async () => {
      const callId = await worker.submit(a);
      let rings = 0;
      worker.store.onCall(callId, () => (rings += 1));
      /** Rings of changes that come close together may be one. */
      const told = async <T>(change: () => Promise<T>): Promise<T> => {
        const before = rings;
        const changed = await change();
        await expect.poll(() => rings).toBeGreaterThan(before);
        return changed;
      };
      expect(await worker.stateOf(callId)).toBe('reserved');
      expect((await told(() => worker.fetch())).calls).toEqual([callId]);
      expect(await worker.stateOf(callId)).toBe('delivered');
      expect(await told(() => worker.report('started', callId))).toEqual([]);
      expect(await worker.stateOf(callId)).toBe('running');
      expect(await worker.store.end(callId)).toBeUndefined();
      expect(await told(() => worker.settle(callId))).toBe(true);
      expect(await worker.store.end(callId)).toEqual({ how: 'settled', settlement: done, cancelled: false });
    });

    it('tells whoever asks for which lane a command waits behind one that runs there, and of no other call', async () => {
      const lanes: unknown[] = [];
      const off = worker.store.onExpected('worker', (lane) => lanes.push(lane));
      await worker.store.worker('worker');
      await worker.submit(a);
      await worker.submit(b);
      expect(lanes).toEqual([]);
      await worker.submit(a);
      await expect.poll(() => lanes).toEqual([a]);
      off();
      await worker.submit(b);
      await worker.fetch();
      expect(lanes).toEqual([a]);
    });

    it('wakes whoever polls for the worker when something can be fetched or is to be stopped, and nobody after that', async () => {
      const rings: unknown[] = [];
      const off = worker.store.onWorker('worker', () => rings.push('ring'));
      const callId = await worker.submit(a);
      await worker.submit(a);
      await expect.poll(() => rings).toHaveLength(1);
      await worker.fetch();
      await worker.settle(callId);
      await expect.poll(() => rings).toHaveLength(2);
      const [second = ''] = (await worker.fetch()).calls;
      await worker.store.cancel(second);
      await expect.poll(() => rings).toHaveLength(3);
      off();
      await worker.submit(b);
      await Promise.resolve();
      expect(rings).toHaveLength(3);
    });

    it('[L4] [L5] [L6] [L23] waits for its lane: siblings side by side, the checkout for both, both for the checkout', async () => {
      const inA = await worker.submit(a);
      const inB = await worker.submit(b);
      const checkout = await worker.submit(root);
      const later = await worker.submit(a);
      expect((await worker.fetch()).calls).toEqual([inA, inB]);
      await worker.settle(inA);
      expect((await worker.fetch()).calls).toEqual([]);
      await worker.settle(inB);
      expect((await worker.fetch()).calls).toEqual([checkout]);
      expect(await worker.stateOf(later)).toBe('waiting');
      await worker.settle(checkout);
      expect((await worker.fetch()).calls).toEqual([later]);
    });

    it('starts a read of instructions at once, beside an exclusive call of its lane and in full pools', async () => {
      await worker.run(root);
      const read = await worker.submit(root, { pool: 'none' });
      expect((await worker.fetch()).calls).toEqual([read]);
      expect(await worker.settle(read)).toBe(true);
    });

    it('is remembered for a minute after its end', async () => {
      const callId = await worker.run(a);
      await worker.settle(callId);
      worker.clock.advance(59_999);
      expect(await worker.stateOf(callId)).toBe('settled');
      worker.clock.advance(1);
      expect(await worker.store.call(callId)).toBeUndefined();
    });
  });

  describe('waiting, reserved → withdrawn', () => {
    it.each(['waiting', 'reserved'] as const)(
      'leaves the queue while it is %s, and never ran',
      async (state) => {
        if (state === 'waiting') await worker.run(a);
        const callId = await worker.submit(a);
        expect(await worker.stateOf(callId)).toBe(state);
        expect(await worker.store.withdraw(callId, 'caller_gone')).toMatchObject({ withdrawn: true });
        expect(await worker.store.end(callId)).toEqual({ how: 'withdrawn', why: 'caller_gone' });
        expect((await worker.fetch()).calls).toEqual([]);
      },
    );

    it('cannot leave once it was delivered', async () => {
      const callId = await worker.submit(a);
      await worker.fetch();
      expect(await worker.store.withdraw(callId, 'deadline')).toEqual({
        withdrawn: false,
        state: 'delivered',
      });
      expect(await worker.store.withdraw(idOf(1), 'deadline')).toEqual({
        withdrawn: false,
        state: undefined,
      });
    });

    it('frees at once what it was reserved for', async () => {
      const first = await worker.submit(a);
      const second = await worker.submit(a);
      await worker.store.withdraw(first, 'cancelled');
      expect((await worker.fetch()).calls).toEqual([second]);
    });
  });

  describe('reserved, delivered → waiting, same place', () => {
    it('returns when it is not fetched within 2 s, and is offered when the worker asks again', async () => {
      const first = await worker.submit(a);
      const second = await worker.submit(a);
      worker.clock.advance(1_999);
      expect(await worker.stateOf(first)).toBe('reserved');
      worker.clock.advance(1);
      expect([await worker.stateOf(first), await worker.stateOf(second)]).toEqual(['waiting', 'waiting']);
      expect((await worker.fetch()).calls).toEqual([first]);
    });

    it('returns when the worker is busy, holds younger rivals back, and is offered after the next report', async () => {
      const first = await worker.submit(a);
      const second = await worker.submit(a);
      await worker.fetch();
      await worker.report('busy', first);
      expect((await worker.fetch()).calls).toEqual([]);
      await worker.freed();
      expect((await worker.fetch()).calls).toEqual([first]);
      await worker.settle(first);
      expect((await worker.fetch()).calls).toEqual([second]);
    });

    it('is offered after any settlement too, and not merely because another call is busy', async () => {
      const inA = await worker.submit(a);
      const inB = await worker.submit(b);
      await worker.fetch();
      await worker.report('busy', inA);
      await worker.report('busy', inB);
      expect((await worker.fetch()).calls).toEqual([]);
      const elsewhere = await worker.run(['tools']);
      await worker.report('busy', inA);
      await worker.settle(elsewhere);
      expect((await worker.fetch()).calls.toSorted()).toEqual([inA, inB].toSorted());
    });

    it('returns when the journal of the same worker denies the start, once', async () => {
      const first = await worker.submit(a);
      const second = await worker.submit(a);
      await worker.fetch();
      expect(await worker.restart()).toEqual({ ok: true, unresolved: [first] });
      expect((await worker.fetch()).calls).toEqual([]);
      await worker.resolve('denied', first);
      expect((await worker.fetch()).calls).toEqual([first]);
      await worker.resolve('denied', first);
      expect(await worker.stateOf(first)).toBe('delivered');
      expect(await worker.stateOf(second)).toBe('waiting');
    });
  });

  describe('delivered, running → cancelling → settled', () => {
    it('is told to the worker by one poll and by every renewal, and ends with its word', async () => {
      const callId = await worker.run(a);
      expect(await worker.store.cancel(callId)).toBe('cancelling');
      expect((await worker.fetch()).cancellations).toEqual([callId]);
      expect((await worker.fetch()).cancellations).toEqual([]);
      expect((await worker.renew(callId)).cancellations).toEqual([callId]);
      expect((await worker.renew(callId)).cancellations).toEqual([callId]);
      expect(await worker.settle(callId)).toBe(true);
      expect(await worker.store.end(callId)).toMatchObject({ how: 'settled', cancelled: true });
    });

    it('is withdrawn instead where it was not delivered, or the worker had no room for it', async () => {
      const [reserved, delivered] = [await worker.submit(a), await worker.submit(b)];
      expect(await worker.store.cancel(reserved)).toBe('withdrawn');
      await worker.fetch();
      await worker.store.cancel(delivered);
      await worker.report('busy', delivered);
      expect(await worker.store.end(delivered)).toEqual({ how: 'withdrawn', why: 'cancelled' });
      expect(await worker.store.cancel(idOf(1))).toBeUndefined();
    });
  });

  describe('delivered, running → interrupted', () => {
    it('[T70] ends with its lease, which alone frees the lane and wakes who waits for it', async () => {
      const [first, second] = [await worker.run(a), await worker.submit(a)];
      worker.clock.advance(29_999);
      expect(await worker.stateOf(first)).toBe('running');
      worker.clock.advance(1);
      expect(await worker.store.end(first)).toMatchObject({ how: 'interrupted' });
      expect((await worker.fetch()).calls).toEqual([second]);
      expect(await worker.settle(first)).toBe(false);
    });

    it('[T71] lives on for as long as it is renewed, and no second call meets it', async () => {
      const [first, second] = [await worker.run(a), await worker.submit(a)];
      for (let beat = 0; beat < 20; beat += 1) {
        worker.clock.advance(5_000);
        expect((await worker.renew(first)).lost).toEqual([]);
        expect(await worker.stateOf(second)).toBe('waiting');
      }
      worker.clock.advance(30_000);
      expect((await worker.renew(first)).lost).toEqual([first]);
      expect(await worker.report('started', first)).toEqual([first]);
    });

    it('is renewed by nothing but a renewal of its own token', async () => {
      const callId = await worker.run(a);
      worker.clock.advance(20_000);
      await worker.fetch();
      const forged = { ...worker.lease(callId), token: 'f'.repeat(64) };
      expect(await worker.store.renew(worker.fence, [forged])).toMatchObject({ lost: [callId] });
      worker.clock.advance(10_000);
      expect(await worker.stateOf(callId)).toBe('interrupted');
    });

    it('ends when another journal takes over, which it may only by an explicit act', async () => {
      const callId = await worker.run(a);
      const other = { incarnationId: idOf(9), journalId: idOf(0xb) };
      expect(await worker.register(other)).toMatchObject({ ok: false, error: { code: 'WORKER_FENCED' } });
      expect(await worker.stateOf(callId)).toBe('running');
      expect(await worker.register({ ...other, takeOver: true })).toEqual({ ok: true, unresolved: [] });
      expect(await worker.stateOf(callId)).toBe('interrupted');
      expect(await worker.store.fetch(worker.registration)).toMatchObject({
        error: { code: 'WORKER_FENCED' },
      });
    });

    it('ends when its own journal says that it had started', async () => {
      const callId = await worker.run(a);
      await worker.restart();
      await worker.resolve('interrupted', callId);
      expect(await worker.store.end(callId)).toMatchObject({ how: 'interrupted' });
    });
  });
});
