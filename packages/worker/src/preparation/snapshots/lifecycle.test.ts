import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prune, type KeptSnapshot, type Pruning } from './lifecycle.js';

const lifecycle = { maxStoreBytes: 100, maxEntries: 3, retentionMs: 1_000, scanLimit: 100 };
const kept = (key: string, usedAt: number, bytes = 10): KeptSnapshot => ({ key, bytes, usedAt });

function removedBy(
  snapshots: readonly KeptSnapshot[],
  more: Partial<Pruning> = {},
  busy: readonly string[] = [],
) {
  const removed: [string, string][] = [];
  const fits = prune(
    snapshots,
    { lifecycle, now: 10_000, inUse: new Set(), room: { entries: 0, bytes: 0 }, ...more },
    ({ key }, why) => {
      if (busy.includes(key)) return false;
      removed.push([key, why]);
      return true;
    },
  );
  return { removed, fits };
}

describe('the lifecycle of snapshots', () => {
  it('[D8] lets those go that nobody has used for too long, and no others', () => {
    const { removed } = removedBy([kept('new', 9_500), kept('old', 8_999), kept('just', 9_000)]);
    expect(removed).toEqual([['old', 'unused for longer than retentionMs']]);
  });

  it('[D10] lets those go that were used longest ago, until what is to come has room', () => {
    const snapshots = [kept('b', 9_600), kept('a', 9_500), kept('c', 9_700)];
    expect(removedBy(snapshots, { room: { entries: 1, bytes: 10 } }).removed).toEqual([
      ['a', 'over maxEntries'],
    ]);
    expect(removedBy(snapshots, { room: { entries: 0, bytes: 90 } }).removed).toEqual([
      ['a', 'over maxStoreBytes'],
      ['b', 'over maxStoreBytes'],
    ]);
  });

  it('[D9] lets nothing go that is in use or cannot go now, and says so where there is no room then', () => {
    const snapshots = [kept('a', 1), kept('b', 2), kept('c', 9_700)];
    const room = { entries: 1, bytes: 10 };
    expect(removedBy(snapshots, { inUse: new Set(['a']), room })).toEqual({
      removed: [['b', 'unused for longer than retentionMs']],
      fits: true,
    });
    expect(removedBy(snapshots, { inUse: new Set(['a']), room }, ['b', 'c'])).toEqual({
      removed: [],
      fits: false,
    });
  });

  it('[D10] keeps within its limits, for all stores, or says that it cannot', () => {
    const snapshot = fc.record({
      key: fc.uuid(),
      bytes: fc.nat(60),
      usedAt: fc.integer({ min: 8_500, max: 10_000 }),
    });
    fc.assert(
      fc.property(
        fc.array(snapshot, { maxLength: 8 }),
        fc.nat(1),
        fc.nat(60),
        (snapshots, entries, bytes) => {
          const busy = snapshots.filter((_, index) => index % 3 === 0).map(({ key }) => key);
          const { removed, fits } = removedBy(snapshots, { room: { entries, bytes } }, busy);
          const gone = new Set(removed.map(([key]) => key));
          const left = snapshots.filter(({ key }) => !gone.has(key));
          const within =
            left.length + entries <= lifecycle.maxEntries &&
            left.reduce((sum, each) => sum + each.bytes, bytes) <= lifecycle.maxStoreBytes;
          expect(fits).toBe(within);
          // Whoever can stay, stays: nothing goes once all is within the limits, but what has expired.
          const needless = removed.filter(([, why]) => why !== 'unused for longer than retentionMs').at(-1);
          if (needless === undefined) return;
          const last = snapshots.find(({ key }) => key === needless[0]);
          const before = [...left, ...(last === undefined ? [] : [last])];
          expect(
            before.length + entries <= lifecycle.maxEntries &&
              before.reduce((sum, each) => sum + each.bytes, bytes) <= lifecycle.maxStoreBytes,
          ).toBe(false);
        },
      ),
    );
  });
});
