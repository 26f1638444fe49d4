import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PairingStore } from './pairing-store.js';
import { pairingStoresUnderTest } from './testing/pairing-stores-under-test.js';

const minute = 60_000;
const worker = { worker: 'laptop' };
const nonce = () => randomBytes(24).toString('base64url');

async function change(store: PairingStore, expected: string | undefined, next: string | undefined) {
  return store.replace(worker, expected, next, minute);
}

describe.each(pairingStoresUnderTest)('the pairings in $name', ({ make, isShared, isLasting }) => {
  const anew = async () => (await make())();

  it('say whether they outlive the process', async () => {
    expect((await anew()).isLasting).toBe(isLasting);
  });

  it('have no record of a worker that was never paired', async () => {
    const store = await anew();
    expect(await store.read(worker)).toBeUndefined();
  });

  it('replace a record only where it is the one that was seen', async () => {
    const store = await anew();
    expect(await change(store, 'other', 'one')).toBe(false);
    expect(await change(store, undefined, 'one')).toBe(true);
    expect(await change(store, undefined, 'two')).toBe(false);
    expect(await change(store, 'one', 'two')).toBe(true);
    expect(await store.read(worker)).toBe('two');
    expect(await change(store, 'two', undefined)).toBe(true);
    expect(await store.read(worker)).toBeUndefined();
  });

  it('make exactly one of many changes that meet', async () => {
    const store = await anew();
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) => change(store, undefined, `record ${index}`)),
    );
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await store.read(worker)).toBe(`record ${made.indexOf(true)}`);
  });

  it('keep workers and codes apart, whatever their names', async () => {
    const store = await anew();
    await store.replace({ worker: 'a' }, undefined, 'of the worker', minute);
    await store.replace({ code: 'a' }, undefined, 'of the code', minute);
    expect(await store.read({ worker: 'a' })).toBe('of the worker');
    expect(await store.read({ code: 'a' })).toBe('of the code');
    expect(await store.read({ worker: 'a:pairing' })).toBeUndefined();
  });

  it('forget a record when its time is over', async () => {
    const store = await anew();
    await store.replace(worker, undefined, 'short', 30);
    await expect.poll(() => store.read(worker), { timeout: 10_000 }).toBeUndefined();
    expect(await change(store, undefined, 'next')).toBe(true);
  });

  it('let a nonce pass once for each worker, until its time is over', async () => {
    const store = await anew();
    const used = nonce();
    const now = Date.now();
    const passes = (workerId: string, ms = minute) => store.useNonce(workerId, used, now, ms);
    const together = await Promise.all(Array.from({ length: 10 }, () => passes('laptop')));
    expect(together.filter(Boolean)).toHaveLength(1);
    expect(await passes('desktop', 20)).toBe(true);
    expect(await passes('laptop')).toBe(false);
    await expect.poll(() => passes('desktop', 20), { timeout: 10_000 }).toBe(true);
  });

  it('let every nonce of a random sequence pass exactly the first time', async () => {
    const store = await anew();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 30 }), async (picks) => {
        const names = Array.from({ length: 10 }, nonce);
        const seen = new Set<number>();
        for (const pick of picks) {
          const isNew = await store.useNonce('laptop', names[pick] ?? '', Date.now(), minute);
          expect(isNew).toBe(!seen.has(pick));
          seen.add(pick);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('tell of every change of a worker’s record, and of none of a code', async () => {
    const store = await anew();
    const heard: (string | undefined)[] = [];
    const off = store.watch((workerId) => heard.push(workerId));
    // A store that has just connected tells once that something may have been missed.
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual(isShared ? [undefined] : []);
    heard.length = 0;
    await store.replace({ code: 'c' }, undefined, 'x', minute);
    await change(store, undefined, 'one');
    await change(store, 'wrong', 'two');
    await change(store, 'one', 'three');
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual(['laptop', 'laptop']);
    off();
    await change(store, 'three', 'four');
    await delay(20);
    expect(heard).toHaveLength(2);
  });

  it('do not let a nonce pass again after a restart', async () => {
    const open = await make();
    const first = await open();
    const [used, signedAt] = [nonce(), Date.now()];
    expect(await first.useNonce('laptop', used, signedAt, minute)).toBe(true);
    await first.close();
    await delay(5);
    const second = await open();
    expect(await second.useNonce('laptop', used, signedAt, minute)).toBe(false);
    expect(await second.useNonce('laptop', nonce(), Date.now() + 5, minute)).toBe(true);
  });
});

describe.each(pairingStoresUnderTest.filter(({ isShared }) => isShared))(
  'the pairings in $name',
  ({ make }) => {
    it('are the same at every bridge: records, nonces, and the news of changes', async () => {
      const open = await make();
      const [one, other] = [await open(), await open()];
      const heard: (string | undefined)[] = [];
      other.watch((workerId) => heard.push(workerId));
      await expect.poll(() => heard, { timeout: 10_000 }).toEqual([undefined]);
      await change(one, undefined, 'one');
      expect(await other.read(worker)).toBe('one');
      expect(await change(other, undefined, 'two')).toBe(false);
      await expect.poll(() => heard, { timeout: 10_000 }).toEqual([undefined, 'laptop']);
      const used = nonce();
      const passed = [
        await one.useNonce('laptop', used, Date.now(), minute),
        await other.useNonce('laptop', used, Date.now(), minute),
      ];
      expect(passed).toEqual([true, false]);
    });
  },
);

describe.each(pairingStoresUnderTest.filter(({ isLasting }) => isLasting))(
  'the pairings in $name',
  ({ make }) => {
    it('do not let a nonce pass again after a restart, of a clock that is ahead either', async () => {
      const open = await make();
      const first = await open();
      const [used, signedAt] = [nonce(), Date.now() + 30_000];
      expect(await first.useNonce('laptop', used, signedAt, minute)).toBe(true);
      await first.close();
      const second = await open();
      expect(await second.useNonce('laptop', used, signedAt, minute)).toBe(false);
      expect(await second.useNonce('laptop', nonce(), signedAt + 6_000, minute)).toBe(true);
      expect(await second.useNonce('desktop', nonce(), Date.now() + 5, minute)).toBe(true);
    });

    it('are there after a restart', async () => {
      const open = await make();
      const first = await open();
      await change(first, undefined, 'one');
      await first.close();
      const second = await open();
      expect(await second.read(worker)).toBe('one');
      expect(await change(second, 'one', 'two')).toBe(true);
    });
  },
);
