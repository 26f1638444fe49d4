import { beforeEach, describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { idOf, ready, WorkerAtStore } from './testing/worker-at-store.js';

const a = ['primary', 'worktree:a'] as const;
const b = ['primary', 'worktree:b'] as const;
const root = ['primary'] as const;

describe.each(storesUnderTest)('the one setup of a lane at the $name store', ({ make }) => {
  let worker: WorkerAtStore;
  beforeEach(async () => {
    worker = new WorkerAtStore(await make());
    await worker.register();
  });

  it('stays one, however often its lane is said to be unready', async () => {
    await worker.run(root);
    const setup = await worker.unready(a);
    expect(await worker.unready(a)).toBe(setup);
    expect(await worker.setups()).toHaveLength(1);
  });

  it('stays one while it is reserved, delivered, refused by the worker, running and being stopped', async () => {
    const setup = await worker.unready(a);
    const moves = [
      () => worker.fetch(),
      () => worker.report('busy', setup),
      () => worker.freed(),
      () => worker.fetch(),
      () => worker.report('started', setup),
      () => worker.store.cancel(setup),
    ];
    for (const move of moves) {
      await move();
      expect(await worker.unready(a)).toBe(setup);
      expect(await worker.setups()).toHaveLength(1);
    }
  });

  it('is one of each lane', async () => {
    const [inA, inB] = [await worker.unready(a), await worker.unready(b)];
    expect((await worker.fetch()).calls).toEqual([inA, inB]);
  });

  it('is asked for anew once the one before has ended', async () => {
    const first = await worker.unready(a);
    await worker.fetch();
    await worker.settle(first, ready);
    const second = await worker.unready(a);
    expect(second).not.toBe(first);
    expect((await worker.fetch()).calls).toEqual([second]);
    expect(await worker.store.end(first)).toMatchObject({ how: 'settled', settlement: ready });
  });

  it('is counted with the times of its own operation', async () => {
    const setup = await worker.unready(a);
    await worker.fetch();
    worker.clock.advance(2_000);
    expect(await worker.store.settle(worker.fence, worker.lease(setup), ready)).toEqual({
      accepted: true,
      timing: { operation: 'setup', queuedMs: 0, totalMs: 2_000, wasPaused: false },
    });
  });

  it('can be cancelled: taken back while it waits, stopped by the worker while it runs', async () => {
    const running = await worker.run(root);
    const waiting = await worker.unready(a);
    expect(await worker.store.cancel(waiting)).toBe('withdrawn');
    await worker.settle(running);
    expect((await worker.fetch()).calls).toEqual([]);
    const setup = await worker.unready(a);
    const command = await worker.submit(a);
    await worker.fetch();
    await worker.report('started', setup);
    expect(await worker.store.cancel(setup)).toBe('cancelling');
    expect((await worker.fetch()).cancellations).toEqual([setup]);
    expect(await worker.settle(setup)).toBe(true);
    expect((await worker.fetch()).calls).toEqual([command]);
  });

  it('is gone with a worker that dies in the middle of it, and is asked for again at the same place', async () => {
    const command = await worker.submit(a);
    await worker.fetch();
    const lost = await worker.unready(a, command);
    await worker.fetch();
    await worker.report('started', lost);
    worker.clock.advance(30_000);
    expect(await worker.store.end(lost)).toMatchObject({ how: 'interrupted' });
    await worker.restart();
    expect((await worker.fetch()).calls).toEqual([command]);
    const setup = await worker.unready(a, command);
    expect((await worker.fetch()).calls).toEqual([setup]);
  });

  it('ends at once where another journal takes over', async () => {
    const setup = await worker.unready(a);
    await worker.fetch();
    await worker.register({ incarnationId: idOf(9), journalId: idOf(0xb), takeOver: true });
    expect(await worker.store.end(setup)).toMatchObject({ how: 'interrupted' });
    expect(await worker.setups()).toEqual([]);
  });

  it('goes by the word of its journal after a restart', async () => {
    const [inA, inB] = [await worker.unready(a), await worker.unready(b)];
    await worker.fetch();
    expect(await worker.restart()).toMatchObject({ ok: true });
    await worker.resolve('interrupted', inA);
    await worker.resolve('denied', inB);
    expect(await worker.stateOf(inA)).toBe('interrupted');
    expect((await worker.fetch()).calls).toEqual([inB]);
  });

  it('goes on under a worker that still holds it, also where the store knows nothing of it any more', async () => {
    const setup = await worker.unready(a);
    await worker.fetch();
    const command = await worker.submit(a);
    await worker.restart([worker.hold(setup)]);
    expect(await worker.stateOf(setup)).toBe('delivered');
    expect(await worker.stateOf(command)).toBe('waiting');

    const forgetful = new WorkerAtStore(await make());
    await forgetful.register({ holds: [worker.hold(setup)] });
    expect(await forgetful.fetch()).toEqual({ calls: [], cancellations: [] });
    expect(await forgetful.setups()).toMatchObject([
      { callId: setup, state: 'running', principal: 'system' },
    ]);
    expect(await forgetful.unready(a)).toBe(setup);
    expect(await forgetful.store.renew(forgetful.fence, [worker.lease(setup)])).toMatchObject({ lost: [] });
    expect(await forgetful.store.settle(forgetful.fence, worker.lease(setup), ready)).toMatchObject({
      accepted: true,
    });
  });
});
