import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CloningFolder } from './testing/cloning-folder.js';
import { SnapshotFixture } from './testing/snapshot-fixture.js';
import { whileSwapping } from './testing/swapper.js';

const disk = CloningFolder.forTests();
let roots: SnapshotFixture;
beforeEach(() => {
  roots = new SnapshotFixture(disk());
});
afterEach(() => {
  roots.remove();
});

describe('the snapshot of a setup', () => {
  it('[D2] is restored where what was installed is gone, and neither side changes the other', async () => {
    expect(await roots.start('a')).toBe('prepared');
    roots.uninstall('a');
    expect(await roots.start('a')).toBe('restored');
    expect([roots.installed('a'), roots.runs('a')]).toEqual(['one', 1]);
    writeFileSync(roots.at('a/node_modules/pkg/index.js'), 'changed by an agent');
    roots.uninstall('a');
    expect(await roots.start('a')).toBe('restored');
    expect(roots.installed('a')).toBe('one');
    expect(roots.notes).toEqual([]);
    // What was restored is then as good as what was made.
    expect(await roots.start('a')).toBe('reused');
  });

  it('[D6] is shared by roots with equal setups, policies and inputs, and is another for others', async () => {
    await roots.start('a');
    expect(await roots.start('b')).toBe('restored');
    expect([roots.installed('b'), roots.runs('b')]).toEqual(['one', 0]);
    roots.uninstall('b');
    writeFileSync(roots.at('b/lock'), 'two');
    expect(await roots.start('b')).toBe('prepared');
    expect(roots.installed('b')).toBe('two');
    roots.uninstall('a');
    expect(await roots.start('a', { checkCommand: 'test -d node_modules/pkg' })).toBe('prepared');
    expect(roots.kept()).toHaveLength(3);
  });

  it('[D5] is made by one of several roots that begin at once; the others wait and restore it', async () => {
    const outcomes = await Promise.all([roots.start('a'), roots.start('b')]);
    expect(outcomes.sort()).toEqual(['prepared', 'restored']);
    expect(roots.runs('a') + roots.runs('b')).toBe(1);
    expect([roots.installed('a'), roots.installed('b')]).toEqual(['one', 'one']);
  });

  it('[D5] is not waited for from a setup that fails: the next root sets up', async () => {
    const failing = 'test -e ../failed || { touch ../failed; exit 1; }; mkdir node_modules';
    const outcomes = await Promise.allSettled(
      ['a', 'b'].map((root) => roots.start(root, { command: failing })),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(roots.kept()).toHaveLength(1);
  });

  it('[D2] replaces nothing: setup runs where any of the declared folders is there', async () => {
    const two = {
      command: 'printf . >> runs; rm -rf node_modules web/node_modules; mkdir -p {.,web}/node_modules/made',
      paths: ['node_modules', 'web/node_modules'],
    };
    mkdirSync(roots.at('a/web'));
    mkdirSync(roots.at('b/web/node_modules/own'), { recursive: true });
    await roots.start('a', two);
    const seen: string[] = [];
    expect(
      await roots.start('b', { ...two, onStep: () => seen.push(readdirSync(roots.at('b')).join()) }),
    ).toBe('prepared');
    expect(seen[0]).toBe('lock,web');
    // It was not tried either.
    expect(roots.notes).toEqual([]);
    rmSync(roots.at('b/web/node_modules'), { recursive: true });
    rmSync(roots.at('b/node_modules'), { recursive: true });
    expect(await roots.start('b', two)).toBe('restored');
    expect(existsSync(roots.at('b/web/node_modules/made'))).toBe(true);
  });

  it('is not restored beneath a folder that is missing or a link', async () => {
    const web = {
      command: 'printf . >> runs; mkdir -p web/node_modules',
      checkCommand: 'true',
      paths: ['web/node_modules'],
    };
    await roots.start('a', web);
    expect(await roots.start('b', web)).toBe('prepared');
    rmSync(roots.at('b/web'), { recursive: true });
    mkdirSync(roots.at('elsewhere'));
    symlinkSync(roots.at('elsewhere'), roots.at('b/web'));
    expect(await roots.start('b', web)).toBe('reused');
    expect(readdirSync(roots.at('elsewhere'))).toEqual([]);
  });

  it('is kept for this user alone', async () => {
    await roots.start('a');
    for (const folder of ['snapshots', 'staging', 'locks']) {
      expect(statSync(join(roots.store, folder)).mode & 0o777).toBe(0o700);
    }
    expect(statSync(roots.entry()).mode & 0o777).toBe(0o700);
    expect(statSync(roots.entry('manifest.json')).mode & 0o777).toBe(0o600);
  });

  it('is not kept of what was there before the setup, which an agent may have planted', async () => {
    mkdirSync(roots.at('a/node_modules/pkg'), { recursive: true });
    writeFileSync(roots.at('a/node_modules/planted.js'), 'planted');
    const command = 'printf . >> runs; mkdir -p node_modules/pkg; echo made > node_modules/made';
    expect(await roots.start('a', { command })).toBe('prepared');
    expect(roots.notes.join()).toMatch(/was there before the setup/u);
    expect([roots.kept(), roots.staged()]).toEqual([[], []]);
  });

  it.each([
    ['[D4] a hard link', 'ln node_modules/pkg/index.js node_modules/second', /hard link/u],
    ['[D3] an absolute link', 'ln -s /etc node_modules/etc', /may leave the root/u],
    ['[D3] a link out of the root', 'ln -s ../../b node_modules/b', /may leave the root/u],
    ['[D3] too many files', 'touch node_modules/{1..60}', /more than 50 files/u],
    ['[D3] too many bytes', 'truncate -s 2M node_modules/large', /more than 1000000 bytes/u],
    [
      'a link in place of a declared folder',
      'mv node_modules real; ln -s real node_modules',
      /symbolic link/u,
    ],
    ['a declared folder that is missing', 'rm -r node_modules', /does not exist/u],
  ])('is not kept where setup leaves %s, and setup has succeeded nevertheless', async (_, leave, why) => {
    const command = `printf . >> runs; mkdir -p node_modules/pkg; touch node_modules/pkg/index.js; ${leave}`;
    const bounds = { maxFiles: 50, maxBytes: 1_000_000 };
    expect(await roots.start('a', { command, checkCommand: 'true', snapshot: bounds })).toBe('prepared');
    expect(roots.notes).toEqual([expect.stringMatching(why)]);
    expect([roots.kept(), roots.staged()]).toEqual([[], []]);
    expect(await roots.start('a', { command, checkCommand: 'true', snapshot: bounds })).toBe('reused');
  });

  it('holds nothing of elsewhere although its folder is exchanged for a link while it is kept', async () => {
    mkdirSync(roots.at('outside'));
    writeFileSync(roots.at('outside/secret'), 'secret');
    symlinkSync(roots.at('outside'), roots.at('a/link'));
    const seen = { kept: 0, refused: 0 };
    // Setup makes a real folder each time; the exchange begins with its check, and so goes on while it is kept.
    for (let round = 0; seen.kept < 3 || seen.refused < 3; round += 1) {
      writeFileSync(roots.at('a/lock'), String(round));
      const stop: { swapping?: Promise<void>; end?: () => void } = {};
      await roots.start('a', {
        command: 'rm -rf real; mkdir real; touch real/{1..20}; rm -rf node_modules; mv real node_modules',
        checkCommand: 'true',
        snapshot: { lifecycle: { maxEntries: 1 } },
        onStep: ({ command }) => {
          if (command !== 'true') return;
          const names = [roots.at('a/node_modules'), roots.at('a/link')];
          stop.swapping ??= whileSwapping(names, () => new Promise((resolve) => (stop.end = resolve)));
        },
      });
      stop.end?.();
      await stop.swapping;
      // As it was, whichever of the two bears which name now.
      if (lstatSync(roots.at('a/node_modules')).isSymbolicLink()) {
        rmSync(roots.at('a/node_modules'));
        renameSync(roots.at('a/link'), roots.at('a/node_modules'));
        symlinkSync(roots.at('outside'), roots.at('a/link'));
      }
      const refused = roots.notes.splice(0).length > 0;
      seen[refused ? 'refused' : 'kept'] += 1;
      for (const key of roots.kept()) {
        expect(readdirSync(join(roots.store, 'snapshots', key, '0'))).not.toContain('secret');
      }
    }
    expect(readdirSync(roots.at('outside'))).toEqual(['secret']);
  }, 180_000);
});

describe('what was half-made', () => {
  it('in a root is removed, and a link that bears its name leads nowhere', async () => {
    await roots.start('a');
    mkdirSync(roots.at('b/.codelanes-restoring/0/pkg'), { recursive: true });
    expect(await roots.start('b')).toBe('restored');
    expect(readdirSync(roots.at('b')).sort()).toEqual(['lock', 'node_modules']);
    roots.uninstall('b');
    mkdirSync(roots.at('precious/0'), { recursive: true });
    symlinkSync(roots.at('precious'), roots.at('b/.codelanes-restoring'));
    expect(await roots.start('b')).toBe('restored');
    expect(readdirSync(roots.at('precious'))).toEqual(['0']);
  });

  it('in the store when its worker was stopped is removed at once', async () => {
    const stop = new AbortController();
    let checked = false;
    const onStep = () => {
      if (checked) stop.abort();
      checked = true;
    };
    expect(await roots.start('a', { onStep, signal: stop.signal })).toBe('prepared');
    expect(roots.notes[0]).toBe('No snapshot is kept. The worker was stopped.');
    expect([roots.kept(), roots.staged()]).toEqual([[], []]);
    expect(await roots.start('a')).toBe('reused');
  });
});

describe('where no snapshot can be kept', () => {
  it('setup runs in full, as files cannot be cloned into the store', async () => {
    const store = mkdtempSync('/dev/shm/codelanes-store-');
    try {
      expect(await roots.start('a', { store })).toBe('prepared');
      roots.uninstall('a');
      expect(await roots.start('a', { store })).toBe('prepared');
      expect(roots.runs('a')).toBe(2);
      expect(roots.notes[0]).toMatch(/Setup runs in full.*cannot be cloned/u);
      expect(await roots.start('a', { store })).toBe('reused');
      expect(readdirSync(join(store, 'staging'))).toEqual([]);
    } finally {
      rmSync(store, { recursive: true });
    }
  });

  it.each<[string, () => void, RegExp]>([
    [
      'open to others',
      () => {
        chmodSync(roots.store, 0o755);
      },
      /open to others/u,
    ],
    [
      'a link',
      () => {
        renameSync(roots.store, roots.at('moved'));
        symlinkSync(roots.at('moved'), roots.store);
      },
      /symbolic link/u,
    ],
    [
      'gone',
      () => {
        rmSync(roots.store, { recursive: true });
      },
      /does not exist/u,
    ],
    [
      'one whose folder is a link',
      () => {
        mkdirSync(roots.at('moved'));
        symlinkSync(roots.at('moved'), join(roots.store, 'staging'));
      },
      /symbolic link/u,
    ],
  ])('setup runs in full, as the store is %s', async (_, change, why) => {
    change();
    expect(await roots.start('a')).toBe('prepared');
    expect(roots.notes).toEqual([expect.stringMatching(why)]);
  });
});
