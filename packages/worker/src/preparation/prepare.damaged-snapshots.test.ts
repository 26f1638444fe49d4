import {
  chmodSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CloningFolder } from './testing/cloning-folder.js';
import { SnapshotFixture } from './testing/snapshot-fixture.js';

const disk = CloningFolder.forTests();
let roots: SnapshotFixture;
beforeEach(() => {
  roots = new SnapshotFixture(disk());
});
afterEach(() => {
  roots.remove();
});

describe('a snapshot that is not what was kept', () => {
  it.each<[string, () => void]>([
    [
      'a link out of the root',
      () => {
        symlinkSync('/etc', roots.entry('0/pkg/planted'));
      },
    ],
    [
      'a link within the root',
      () => {
        symlinkSync('pkg', roots.entry('0/planted'));
      },
    ],
    [
      'another file',
      () => {
        writeFileSync(roots.entry('0/pkg/planted.js'), 'planted');
      },
    ],
    [
      'a second name of a file of elsewhere',
      () => {
        writeFileSync(roots.at('secret'), 'one');
        unlinkSync(roots.entry('0/pkg/index.js'));
        linkSync(roots.at('secret'), roots.entry('0/pkg/index.js'));
      },
    ],
    [
      'a link in place of its tree',
      () => {
        renameSync(roots.entry('0'), roots.at('moved'));
        symlinkSync(roots.at('moved'), roots.entry('0'));
      },
    ],
    [
      'a file that was cut short',
      () => {
        truncateSync(roots.entry('0/pkg/index.js'), 1);
      },
    ],
    [
      'a program that was none',
      () => {
        chmodSync(roots.entry('0/pkg/index.js'), 0o755);
      },
    ],
    [
      'a tree less',
      () => {
        rmSync(roots.entry('0'), { recursive: true });
      },
    ],
  ])('but has %s is removed; nothing of it is put in place, and setup runs in full', async (_, plant) => {
    await roots.start('a');
    plant();
    const found: string[][] = [];
    const onStep = () => found.push(readdirSync(roots.at('b')));
    expect(await roots.start('b', { onStep })).toBe('prepared');
    expect(found[0]).toEqual(['lock']);
    expect(roots.notes).toEqual([
      expect.stringMatching(/No snapshot is restored\. It is not what was kept/u),
    ]);
    expect(roots.installed('b')).toBe('one');
    // What setup has made anew has taken its place.
    roots.uninstall('a');
    expect(await roots.start('a')).toBe('restored');
    expect(readdirSync(roots.at('a/node_modules/pkg'))).toEqual(['index.js']);
  });

  it.each<[string, () => void]>([
    [
      'without a manifest',
      () => {
        rmSync(roots.entry('manifest.json'));
      },
    ],
    [
      'whose manifest is a link',
      () => {
        renameSync(roots.entry('manifest.json'), roots.at('manifest'));
        symlinkSync(roots.at('manifest'), roots.entry('manifest.json'));
      },
    ],
    [
      'whose manifest others may write',
      () => {
        chmodSync(roots.entry('manifest.json'), 0o666);
      },
    ],
    [
      'that is of another key',
      () => {
        const other = roots.kept()[0]?.replace(/./u, (digit) => (digit === '0' ? '1' : '0')) ?? '';
        const text = readFileSync(roots.entry('manifest.json'), 'utf8');
        writeFileSync(roots.entry('manifest.json'), text.replace(roots.kept()[0] ?? '', other));
      },
    ],
    [
      'that was not finished',
      () => {
        const manifest = { version: 1, state: 'unfinished', key: roots.kept()[0] };
        writeFileSync(roots.entry('manifest.json'), JSON.stringify(manifest));
      },
    ],
    [
      'that is a link',
      () => {
        const key = roots.entry();
        renameSync(key, roots.at('moved'));
        symlinkSync(roots.at('moved'), key);
      },
    ],
  ])('[D8] %s counts as none, and is left to its owner', async (_, change) => {
    await roots.start('a');
    change();
    const before = lstatSync(roots.entry()).ino;
    expect(await roots.start('b')).toBe('prepared');
    expect(roots.installed('b')).toBe('one');
    expect(lstatSync(roots.entry()).ino).toBe(before);
    expect(roots.staged()).toEqual([]);
  });

  it('but passes for it is taken away again where its check does not hold, and setup runs in full', async () => {
    await roots.start('a');
    const found: string[] = [];
    let checks = 0;
    const checkCommand = 'test -d node_modules';
    const onStep = ({ command }: { readonly command: string }) => {
      found.push(command === checkCommand ? 'check' : readdirSync(roots.at('b')).join());
      // As if what was restored did not work here.
      if (command === checkCommand && (checks += 1) === 1) roots.uninstall('b');
    };
    expect(await roots.start('b', { checkCommand, onStep })).toBe('prepared');
    expect(found).toEqual(['check', 'lock', 'check']);
    expect(roots.notes).toEqual([expect.stringContaining('its check did not hold')]);
  });
});
