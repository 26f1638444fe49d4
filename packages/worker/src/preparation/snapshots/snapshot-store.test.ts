import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultLifecycle } from '../../environment/setup.js';
import { makeRoom } from './maintenance.js';
import { pruneStore } from './prune-store.js';
import { SnapshotStore } from './snapshot-store.js';

const [one, other] = ['1'.repeat(64), '2'.repeat(64)];
const signal = new AbortController().signal;
const sixDaysAgo = () => new Date(Date.now() - 6 * 24 * 60 * 60 * 1000);

let folder: string;
let path: string;
let store: SnapshotStore;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-store-')));
  path = join(folder, 'store');
  mkdirSync(path, { mode: 0o700 });
  store = SnapshotStore.open(path);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const at = (...segments: readonly string[]) => join(path, ...segments);

/** As a worker leaves one, in `snapshots` or `staging`. */
function make(
  where: string,
  key: string,
  usedAt = new Date(),
  state: 'complete' | 'unfinished' = 'complete',
) {
  mkdirSync(at(where, '0/pkg'), { recursive: true, mode: 0o700 });
  chmodSync(at(where), 0o700);
  writeFileSync(at(where, '0/pkg/index.js'), 'installed');
  const complete = { paths: ['node_modules'], entries: 2, bytes: 9, digest: '0'.repeat(64) };
  const manifest = { version: 1, state, key, ...(state === 'complete' && complete) };
  writeFileSync(at(where, 'manifest.json'), JSON.stringify(manifest), { mode: 0o600 });
  utimesSync(at(where, 'manifest.json'), usedAt, usedAt);
}

const tidy = (more: Partial<Parameters<typeof makeRoom>[1]> = {}) => {
  makeRoom(store, {
    lifecycle: defaultLifecycle,
    inUse: new Set(),
    room: { entries: 0, bytes: 0 },
    ...more,
  });
};

describe('the lock of a snapshot', () => {
  it('[D5] is had by one at a time, each waiting for the one before', async () => {
    const order: string[] = [];
    const first = await store.lock(one, signal);
    const second = store.lock(one, signal).then((lock) => {
      order.push('second');
      lock.close();
    });
    // Another key is nobody's business.
    (await store.lock(other, signal)).close();
    expect(store.tryLock(one)).toBeUndefined();
    order.push('first');
    first.close();
    await second;
    expect(order).toEqual(['first', 'second']);
  });

  it('[D5] is not waited for after the signal, and then belongs to nobody else', async () => {
    const held = await store.lock(one, signal);
    const stop = new AbortController();
    const waiting = store.lock(one, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    held.close();
    (await store.lock(one, signal)).close();
  });

  it('[D5] is refused where the store was replaced while it was waited for', async () => {
    const held = await store.lock(one, signal);
    const waiting = store.lock(one, signal);
    renameSync(path, join(folder, 'moved'));
    mkdirSync(path, { mode: 0o700 });
    held.close();
    await expect(waiting).rejects.toThrow('Another folder has taken the place of the store');
  });

  it('[D5] is another one once its file was removed, and whoever waited gets that', async () => {
    const held = await store.lock(one, signal);
    const waiting = store.lock(one, signal);
    held.discard();
    const got = await waiting;
    expect(store.isLocked(one)).toBe(true);
    got.close();
    expect(store.isLocked(one)).toBe(false);
  });

  it.each<[string, (place: string) => void]>([
    [
      'a link',
      (place) => {
        symlinkSync(join(folder, 'elsewhere'), place);
      },
    ],
    [
      'a second name',
      (place) => {
        writeFileSync(join(folder, 'elsewhere'), '', { mode: 0o600 });
        linkSync(join(folder, 'elsewhere'), place);
      },
    ],
    [
      'open to others',
      (place) => {
        writeFileSync(place, '');
        chmodSync(place, 0o666);
      },
    ],
  ])('is refused where its file is %s', async (_, plant) => {
    plant(at('locks', one));
    await expect(store.lock(one, signal)).rejects.toThrow(/ELOOP|no plain file of this user's alone/u);
  });
});

describe('maintaining a store', () => {
  it('[D8] removes expired snapshots, and keeps what no worker made', () => {
    make(`snapshots/${one}`, one, sixDaysAgo());
    make(`snapshots/${other}`, other);
    make('moved', '3'.repeat(64), sixDaysAgo());
    symlinkSync(at('moved'), at('snapshots', '3'.repeat(64)));
    make(`snapshots/${'4'.repeat(64)}`, '5'.repeat(64), sixDaysAgo());
    mkdirSync(at('snapshots/of-somebody'));
    writeFileSync(at('snapshots/a-file'), '');
    tidy();
    expect(readdirSync(at('snapshots')).sort()).toEqual(
      [other, '3'.repeat(64), '4'.repeat(64), 'a-file', 'of-somebody'].sort(),
    );
    expect(existsSync(at('moved/0/pkg/index.js'))).toBe(true);
    expect(readdirSync(at('staging'))).toEqual([]);
  });

  it('[D9] keeps those that are in use, whoever uses them', async () => {
    make(`snapshots/${one}`, one, sixDaysAgo());
    make(`snapshots/${other}`, other, sixDaysAgo());
    const lock = await store.lock(one, signal);
    tidy({ inUse: new Set([other]) });
    expect(readdirSync(at('snapshots'))).toEqual([one, other]);
    lock.close();
    tidy({ inUse: new Set([other]) });
    expect(readdirSync(at('snapshots'))).toEqual([other]);
  });

  it('[D10] makes room for what is to come, and refuses it where there is none', async () => {
    make(`snapshots/${one}`, one, new Date(Date.now() - 2_000));
    make(`snapshots/${other}`, other, new Date(Date.now() - 1_000));
    const lifecycle = { ...defaultLifecycle, maxEntries: 2 };
    tidy({ lifecycle, room: { entries: 1, bytes: 1 } });
    expect(readdirSync(at('snapshots'))).toEqual([other]);
    const lock = await store.lock(other, signal);
    expect(() => {
      tidy({ lifecycle: { ...lifecycle, maxEntries: 1 }, room: { entries: 1, bytes: 1 } });
    }).toThrow('has no room for 1 bytes more');
    expect(() => {
      tidy({ lifecycle: { ...lifecycle, maxStoreBytes: 5 }, room: { entries: 1, bytes: 6 } });
    }).toThrow('has no room for 6 bytes more');
    lock.close();
  });

  it('refuses what is to come where it cannot see all that is there', () => {
    for (const name of ['a', 'b', 'c']) mkdirSync(at('snapshots', name));
    const lifecycle = { ...defaultLifecycle, scanLimit: 2 };
    expect(() => {
      tidy({ lifecycle, room: { entries: 1, bytes: 1 } });
    }).toThrow('scanLimit');
  });

  it('[D12] removes what was left half-made, if a worker made it and none makes it now', async () => {
    const name = (key: string) => `staging/${key}-${'0'.repeat(16)}`;
    make(name(one), one, new Date(), 'unfinished');
    make(name(other), other, new Date(), 'unfinished');
    make(name('3'.repeat(64)), '4'.repeat(64), new Date(), 'unfinished');
    make(name('5'.repeat(64)), '5'.repeat(64));
    mkdirSync(at(name('6'.repeat(64))));
    mkdirSync(at(name('7'.repeat(64)), 'of-somebody'), { recursive: true });
    mkdirSync(at('staging/of-somebody'));
    const making = await store.lock(other, signal);
    tidy();
    making.close();
    expect(readdirSync(at('staging')).sort()).toEqual(
      [name(other), name('3'.repeat(64)), name('7'.repeat(64)), 'staging/of-somebody']
        .map((each) => each.replace('staging/', ''))
        .sort(),
    );
  });
});

describe('pruning a store', () => {
  const prune = (apply: boolean, inUse: readonly string[] = []) =>
    pruneStore({ path, lifecycle: defaultLifecycle, inUse: new Set(inUse) }, { apply, signal });

  it('[D8] says first what it would remove, and changes nothing', async () => {
    make(`snapshots/${one}`, one, sixDaysAgo());
    make(`snapshots/${other}`, other);
    make(`staging/${one}-${'0'.repeat(16)}`, one, new Date(), 'unfinished');
    const before = readdirSync(path, { recursive: true });
    const report = await prune(false);
    expect(report.removed).toMatchObject([{ key: one, bytes: 9, why: 'unused for longer than retentionMs' }]);
    expect(report.kept).toMatchObject([{ key: other }]);
    expect(report.leftovers).toBe(1);
    expect(readdirSync(path, { recursive: true })).toEqual(before);
    expect(await prune(true)).toMatchObject({ removed: [{ key: one }], leftovers: 1 });
    expect([readdirSync(at('snapshots')), readdirSync(at('staging'))]).toEqual([[other], []]);
  });

  it('[D9] keeps what is in use', async () => {
    make(`snapshots/${one}`, one, sixDaysAgo());
    make(`snapshots/${other}`, other, sixDaysAgo());
    make(`staging/${other}-${'0'.repeat(16)}`, other, new Date(), 'unfinished');
    const lock = await store.lock(other, signal);
    for (const apply of [false, true]) {
      expect(await prune(apply, [one])).toMatchObject({ removed: [], leftovers: 0 });
    }
    lock.close();
    expect(await prune(true)).toMatchObject({ removed: [{ key: one }, { key: other }] });
  });

  it('makes nothing in a store that has yet to be used', async () => {
    const fresh = join(folder, 'fresh');
    mkdirSync(fresh, { mode: 0o700 });
    const report = await pruneStore(
      { path: fresh, lifecycle: defaultLifecycle, inUse: new Set() },
      { apply: true, signal },
    );
    expect(report).toMatchObject({ kept: [], removed: [] });
    expect(readdirSync(fresh)).toEqual([]);
  });
});
