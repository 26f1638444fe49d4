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
    /** A change is told, and comes to that; what is heard first may still be the ring of a change before it. */
    const changed = async (change: () => Promise<unknown>, expected: object) => {
      const before = rings;
      await change();
      await expect.poll(() => rings).toBeGreaterThan(before);
      await expect.poll(() => follower.progress()).toEqual(expected);
    };
    return { on, worker, call, follower, changed, rings: () => rings };
  }

  it('is unknown before it is submitted, and told at each change until it has ended', async () => {
    const { on, worker, call, follower, changed } = await followed();
    expect(await follower.progress()).toBeUndefined();
    await on.store.submit(call);
    expect(await follower.progress()).toEqual({ how: 'open', state: 'reserved' });
    await changed(() => worker.fetch(), { how: 'open', state: 'delivered' });
    await changed(() => worker.report('started', call.callId), { how: 'open', state: 'running' });
    const end = { how: 'settled', settlement: done, cancelled: false };
    await changed(() => worker.settle(call.callId), end);
    expect(await follower.progress()).toEqual(end);
  });

  it('waits behind another one until that ends', async () => {
    const { on, worker, call, follower, changed } = await followed();
    const first = await worker.run(['primary']);
    await on.store.submit(call);
    expect(await follower.progress()).toEqual({ how: 'open', state: 'waiting' });
    await changed(() => worker.settle(first), { how: 'open', state: 'reserved' });
  });

  it('is told with its end however long that is', async () => {
    const { on, worker, call, follower, changed } = await followed();
    await on.store.submit(call);
    await changed(() => worker.fetch(), { how: 'open', state: 'delivered' });
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
    const end = { how: 'settled', settlement: long, cancelled: false };
    await changed(() => worker.settle(call.callId, long), end);
    expect(await follower.progress()).toEqual(end);
  });

  it('is told that it was withdrawn, and is not told of any more once nobody follows it', async () => {
    const { on, call, follower, changed, rings } = await followed();
    await on.store.submit(call);
    const withdrawn = { how: 'withdrawn', why: 'cancelled' };
    await changed(() => on.store.withdraw(call.callId, 'cancelled'), withdrawn);
    follower.stop();
    const before = rings();
    await on.store.submit(call);
    expect(rings()).toBe(before);
  });
});
