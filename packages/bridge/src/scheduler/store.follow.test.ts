import type { Settlement } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { storesUnderTest } from './testing/stores-under-test.js';
import { done, WorkerAtStore } from './testing/worker-at-store.js';

describe.each(storesUnderTest)('$name: a call that is followed', ({ make }) => {
  async function followed() {
    const on = await make();
    const worker = new WorkerAtStore(on);
    await worker.register({ slots: 1 });
    const call = worker.newCall(['primary']);
    let rings = 0;
    const follower = on.store.follow(call.callId, worker.workerId, () => (rings += 1));
    /** What it comes to once it has changed. */
    const changed = async (change: () => Promise<unknown>) => {
      const before = rings;
      await change();
      await expect.poll(() => rings).toBeGreaterThan(before);
      return follower.progress();
    };
    return { on, worker, call, follower, changed, rings: () => rings };
  }

  it('is unknown before it is submitted, and told at each change until it has ended', async () => {
    const { on, worker, call, follower, changed } = await followed();
    expect(await follower.progress()).toBeUndefined();
    await on.store.submit(call);
    expect(await follower.progress()).toEqual({ how: 'open', state: 'reserved' });
    expect(await changed(() => worker.fetch())).toEqual({ how: 'open', state: 'delivered' });
    expect(await changed(() => worker.report('started', call.callId))).toEqual({
      how: 'open',
      state: 'running',
    });
    const end = { how: 'settled', settlement: done, cancelled: false };
    expect(await changed(() => worker.settle(call.callId))).toEqual(end);
    expect(await follower.progress()).toEqual(end);
  });

  it('waits behind another one until that ends', async () => {
    const { on, worker, call, follower, changed } = await followed();
    const first = await worker.run(['primary']);
    await on.store.submit(call);
    expect(await follower.progress()).toEqual({ how: 'open', state: 'waiting' });
    expect(await changed(() => worker.settle(first))).toEqual({ how: 'open', state: 'reserved' });
  });

  it('is told with its end however long that is', async () => {
    const { on, worker, call, changed } = await followed();
    await on.store.submit(call);
    await changed(() => worker.fetch());
    const long: Settlement = {
      status: 'fulfilled',
      result: {
        protocolVersion: 1,
        operation: 'execute_command',
        workspaceId: 'primary',
        exitCode: 0,
        stdout: 'long '.repeat(5_000),
        stderr: '',
        truncated: false,
        timedOut: false,
      },
    };
    expect(await changed(() => worker.settle(call.callId, long))).toEqual({
      how: 'settled',
      settlement: long,
      cancelled: false,
    });
  });

  it('is told that it was withdrawn, and is not told of any more once nobody follows it', async () => {
    const { on, call, follower, changed, rings } = await followed();
    await on.store.submit(call);
    const withdrawn = await changed(() => on.store.withdraw(call.callId, 'cancelled'));
    expect(withdrawn).toEqual({ how: 'withdrawn', why: 'cancelled' });
    follower.stop();
    const before = rings();
    await on.store.submit(call);
    expect(rings()).toBe(before);
  });
});
