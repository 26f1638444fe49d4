import { beforeEach, describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const root = ['primary'] as const;

describe.each(storesUnderTest)(
  'the place of a call that timed out in the queue of the $name store',
  ({ make }) => {
    let worker: WorkerAtStore;
    beforeEach(async () => {
      worker = new WorkerAtStore(await make());
      await worker.register();
    });

    it('blocks as an older call for 3 s, so that a checkout call is not starved by its own patience', async () => {
      const running = await worker.run(a);
      const checkout = await worker.submit(root);
      const later = await worker.submit(b);
      await worker.store.withdraw(checkout, 'deadline');
      await worker.settle(running);
      expect((await worker.fetch()).calls).toEqual([]);
      const retry = await worker.submit(root);
      expect((await worker.fetch()).calls).toEqual([retry]);
      await worker.settle(retry);
      expect((await worker.fetch()).calls).toEqual([later]);
    });

    it('is free after 3 s', async () => {
      const running = await worker.run(a);
      const checkout = await worker.submit(root);
      const later = await worker.submit(b);
      await worker.store.withdraw(checkout, 'deadline');
      await worker.settle(running);
      worker.clock.advance(2_999);
      expect((await worker.fetch()).calls).toEqual([]);
      worker.clock.advance(1);
      expect((await worker.fetch()).calls).toEqual([later]);
    });

    it('goes to nobody else, neither another principal nor another body, and to the oldest retry', async () => {
      await worker.run(a);
      const checkout = await worker.submit(root);
      await worker.submit(b);
      await worker.store.withdraw(checkout, 'deadline');
      const positionOf = async (callId: string) => (await worker.store.call(callId))?.view.waiting?.position;
      expect(await positionOf(await worker.submit(root, { principal: 'bo' }))).toBe(3);
      expect(await positionOf(await worker.submit(root, { fingerprint: 'other' }))).toBe(4);
      expect(await positionOf(await worker.submit(root))).toBe(1);
      expect(await positionOf(await worker.submit(root))).toBe(5);
    });

    it.each(['caller_gone', 'cancelled'] as const)('is not kept after %s', async (why) => {
      await worker.run(a);
      const checkout = await worker.submit(root);
      const later = await worker.submit(b);
      await worker.store.withdraw(checkout, why);
      expect((await worker.fetch()).calls).toEqual([later]);
    });
  },
);
