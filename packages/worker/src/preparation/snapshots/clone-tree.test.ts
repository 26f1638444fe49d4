import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Directory } from '../../files/directory.js';
import { CloningFolder } from '../testing/cloning-folder.js';
import { whileSwapping } from '../testing/swapper.js';
import { cloneTree, type CloneSetting } from './clone-tree.js';
import { TreeTally, type TreeBounds } from './tree-tally.js';

const disk = CloningFolder.forTests();
const at = (path: string) => join(disk().path, path);
const from = (path: string) => at(`root/node_modules/${path}`);
const to = (path: string) => at(`store/${path}`);
beforeEach(() => {
  mkdirSync(from('pkg'), { recursive: true });
  mkdirSync(to(''), { mode: 0o700 });
  writeFileSync(from('pkg/index.js'), 'as installed');
});
afterEach(() => {
  for (const name of ['root', 'store', 'outside']) rmSync(at(name), { recursive: true, force: true });
});

interface Change extends Partial<TreeBounds>, Partial<Pick<CloneSetting, 'signal' | 'bornSince'>> {}

async function clone({
  maxBytes = 1_000,
  maxFiles = 100,
  signal = new AbortController().signal,
  ...more
}: Change = {}) {
  rmSync(to(''), { recursive: true });
  mkdirSync(to(''), { mode: 0o700 });
  const [source, target] = [Directory.open(from('')), Directory.open(to(''))];
  const tally = new TreeTally({ maxBytes, maxFiles });
  try {
    await cloneTree(source, target, 'node_modules', { tally, signal, ...more });
    return tally.summary();
  } finally {
    source.close();
    target.close();
  }
}

describe('a clone of a tree', () => {
  it('[D2] has names, bytes, modes, times and links of its source, and is changed by nothing that changes that', async () => {
    writeFileSync(from('pkg/run.sh'), 'echo', { mode: 0o755 });
    symlinkSync('../pkg/run.sh', from('pkg/run'));
    symlinkSync('../../packages/api', from('pkg/api'));
    const then = new Date('2001-02-03T04:05:06Z');
    utimesSync(from('pkg/index.js'), then, then);
    await clone();
    expect(readdirSync(to('pkg')).sort()).toEqual(['api', 'index.js', 'run', 'run.sh']);
    expect([readlinkSync(to('pkg/run')), readlinkSync(to('pkg/api'))]).toEqual([
      '../pkg/run.sh',
      '../../packages/api',
    ]);
    expect(statSync(to('pkg/run.sh')).mode & 0o7777).toBe(0o755);
    expect(statSync(to('pkg/index.js')).mtime).toEqual(then);
    writeFileSync(from('pkg/index.js'), 'changed afterwards');
    expect(readFileSync(to('pkg/index.js'), 'utf8')).toBe('as installed');
    writeFileSync(to('pkg/run.sh'), 'changed in the clone');
    expect(readFileSync(from('pkg/run.sh'), 'utf8')).toBe('echo');
    expect(lstatSync(to('pkg/run.sh')).nlink).toBe(1);
  });

  it('[D2] shares its blocks with its source, and is refused where it could only be a copy of bytes', async () => {
    writeFileSync(from('pkg/index.js'), 'x'.repeat(100_000));
    await clone({ maxBytes: 1_000_000 });
    expect(execFileSync('filefrag', ['-v', to('pkg/index.js')], { encoding: 'utf8' })).toContain('shared');
    const elsewhere = mkdtempSync('/dev/shm/codelanes-elsewhere-');
    const [source, target] = [Directory.open(from('')), Directory.open(elsewhere)];
    try {
      const tally = new TreeTally({ maxBytes: 1_000_000, maxFiles: 100 });
      const { signal } = new AbortController();
      await expect(cloneTree(source, target, 'node_modules', { tally, signal })).rejects.toThrow(/EXDEV/u);
      expect(bytesIn(elsewhere)).toBe('');
    } finally {
      source.close();
      target.close();
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('has no set-id bits, and folders that its owner can clear', async () => {
    chmodSync(from('pkg/index.js'), 0o6755);
    mkdirSync(from('locked'));
    chmodSync(from('locked'), 0o500);
    await clone();
    expect(statSync(to('pkg/index.js')).mode & 0o7777).toBe(0o755);
    expect(statSync(to('locked')).mode & 0o7777).toBe(0o700);
  });

  it('has the digest of its source until anything in it is another', async () => {
    const before = await clone();
    expect((await clone()).digest).toBe(before.digest);
    for (const change of [
      () => {
        chmodSync(from('pkg/index.js'), 0o600);
      },
      () => {
        writeFileSync(from('pkg/index.js'), 'as installed, and more');
      },
      () => {
        symlinkSync('pkg', from('other'));
      },
    ]) {
      change();
      expect((await clone()).digest).not.toBe(before.digest);
    }
  });

  it.each<[string, RegExp, () => void]>([
    [
      '[D4] a hard link',
      /second name/u,
      () => {
        linkSync(from('pkg/index.js'), from('pkg/other.js'));
      },
    ],
    [
      '[D4] a hard link to a file outside',
      /second name/u,
      () => {
        mkdirSync(at('outside'));
        writeFileSync(at('outside/secret'), 'secret');
        linkSync(at('outside/secret'), from('pkg/secret'));
      },
    ],
    [
      '[D3] an absolute link',
      /may leave the root/u,
      () => {
        symlinkSync('/etc/passwd', from('pkg/link'));
      },
    ],
    [
      '[D3] a link that climbs out of the root',
      /may leave the root/u,
      () => {
        symlinkSync('../../../outside', from('pkg/link'));
      },
    ],
    [
      '[D3] a link that climbs behind another link',
      /may leave the root/u,
      () => {
        symlinkSync('../..', from('pkg/top'));
        symlinkSync('top/../../outside', from('pkg/link'));
      },
    ],
    [
      'a pipe',
      /no file, folder or link/u,
      () => {
        execFileSync('mkfifo', [from('pkg/pipe')]);
      },
    ],
    [
      "Git's own storage",
      /Git's own storage/u,
      () => {
        mkdirSync(from('pkg/.git'));
      },
    ],
  ])('is not made of %s', async (_, sentence, plant) => {
    plant();
    await expect(clone()).rejects.toThrow(sentence);
  });

  it('[D3] is not made of more files or bytes than the bounds', async () => {
    await expect(clone({ maxFiles: 1 })).rejects.toThrow(/more than 1 files/u);
    await expect(clone({ maxBytes: 5 })).rejects.toThrow(/more than 5 bytes/u);
    // However many there are, no more names are read than may be copied.
    for (let count = 0; count < 300; count += 1) writeFileSync(from(`pkg/${count}`), '');
    await expect(clone({ maxFiles: 200 })).rejects.toThrow(/more than 200 files/u);
    expect(readdirSync(to('pkg'))).toEqual([]);
  });

  it('is not made of folders without end', async () => {
    mkdirSync(from(Array.from({ length: 200 }, () => 'd').join('/')), { recursive: true });
    await expect(clone({ maxFiles: 1_000 })).rejects.toThrow(/folders deep/u);
  });

  it('takes only what was made since the setup began, so that nothing planted before it is kept', async () => {
    const { birthtimeNs } = statSync(from('pkg/index.js'), { bigint: true });
    await expect(clone({ bornSince: birthtimeNs + 1n })).rejects.toThrow(/was there before the setup/u);
  });

  it('ends with its signal', async () => {
    const stop = new AbortController();
    stop.abort();
    await expect(clone({ signal: stop.signal })).rejects.toThrow(/abort/u);
    expect(readdirSync(to(''))).toEqual([]);
  });

  it('holds nothing of elsewhere although folders and files are exchanged for links meanwhile', async () => {
    mkdirSync(at('outside'));
    writeFileSync(at('outside/index.js'), 'outside');
    writeFileSync(from('top.js'), 'as installed');
    symlinkSync(at('outside'), at('root/folder-link'));
    symlinkSync(at('outside/index.js'), at('root/file-link'));
    const seen = { whole: 0, refused: 0 };
    await whileSwapping(
      [from('pkg'), at('root/folder-link'), from('top.js'), at('root/file-link')],
      async () => {
        // Without both the loop attacked nothing.
        while (seen.whole < 20 || seen.refused < 20) {
          try {
            await clone();
            seen.whole += 1;
          } catch {
            seen.refused += 1;
          }
          expect(bytesIn(to(''))).not.toContain('outside');
        }
      },
    );
    expect(readdirSync(at('outside'))).toEqual(['index.js']);
  }, 180_000);
});

/** What all files of a folder hold, reached by no link. */
function bytesIn(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}
