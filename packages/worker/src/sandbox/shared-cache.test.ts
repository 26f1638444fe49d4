import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RootError } from '../environment/roots.js';
import { plainRootPolicy } from './lane-policies.js';
import { gatherMachineFacts } from './machine-facts.js';
import { Pins } from './pins.js';
import { findSharedCache, pinSharedCaches } from './shared-cache.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-cache-')));
  mkdirSync(join(folder, 'npm'), { mode: 0o700 });
  mkdirSync(join(folder, 'uv'), { mode: 0o700 });
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const npm = () =>
  findSharedCache({ kind: 'npm-cache', path: join(folder, 'npm'), access: 'read-write' } as const);
const uv = () =>
  findSharedCache({ kind: 'uv-cache', path: join(folder, 'uv'), access: 'read-only' } as const);

/** Pins, or says why not. */
function pinned(...caches: readonly ReturnType<typeof npm>[]): Pins {
  const pins = new Pins();
  try {
    pinSharedCaches(pins, caches);
    return pins;
  } finally {
    pins.close();
  }
}

describe('a cache that the commands of an environment share', () => {
  it('[X1] is mounted under its own path, as its access says, and named by the variable of its tool', () => {
    const { mounts, environment } = plainRootPolicy({
      machine: gatherMachineFacts({ home: folder, searchPath: '/usr/bin' }),
      folders: { state: '/state', home: '/state/home', bin: '/state/bin', gitConfig: '/state/gitconfig' },
      workingDirectory: '/srv/root',
      lane: { kind: 'plain', root: '/srv/root' },
      caches: [npm(), uv()],
    });
    const shown = mounts.filter(
      (mount) => mount.path.startsWith(folder) && (mount.kind === 'writable' || mount.kind === 'readable'),
    );
    expect(shown).toEqual([
      {
        kind: 'writable',
        path: join(folder, 'npm'),
        source: { from: 'descriptor', name: 'cache npm-cache' },
      },
      { kind: 'readable', path: join(folder, 'uv'), source: { from: 'descriptor', name: 'cache uv-cache' } },
    ]);
    expect(environment).toMatchObject({
      npm_config_cache: join(folder, 'npm'),
      UV_CACHE_DIR: join(folder, 'uv'),
    });
    expect(environment).not.toHaveProperty('PLAYWRIGHT_BROWSERS_PATH');
  });

  it.each<[string, () => void, RegExp]>([
    [
      'is a link',
      () => {
        rmSync(join(folder, 'npm'), { recursive: true });
        symlinkSync('uv', join(folder, 'npm'));
      },
      /symbolic link/u,
    ],
    [
      'is a file',
      () => {
        rmSync(join(folder, 'npm'), { recursive: true });
        writeFileSync(join(folder, 'npm'), '');
      },
      /no folder/u,
    ],
    [
      'is open to others',
      () => {
        chmodSync(join(folder, 'npm'), 0o750);
      },
      /chmod 700/u,
    ],
    [
      'is missing',
      () => {
        rmSync(join(folder, 'npm'), { recursive: true });
      },
      /does not exist/u,
    ],
  ])('[X2] that %s keeps the worker from its start', (_, change, sentence) => {
    change();
    expect(npm).toThrow(RootError);
    expect(npm).toThrow(sentence);
  });

  it.each<[string, () => void]>([
    [
      'was opened to others',
      () => {
        chmodSync(join(folder, 'npm'), 0o701);
      },
    ],
    [
      'was replaced',
      () => {
        rmSync(join(folder, 'npm'), { recursive: true });
        mkdirSync(join(folder, 'keep'));
        mkdirSync(join(folder, 'npm'), { mode: 0o700 });
      },
    ],
    [
      'became a link',
      () => {
        rmSync(join(folder, 'npm'), { recursive: true });
        symlinkSync('uv', join(folder, 'npm'));
      },
    ],
    [
      'is gone',
      () => {
        rmSync(join(folder, 'npm'), { recursive: true });
      },
    ],
  ])('[X2] that %s afterwards is not opened for a command', (_, change) => {
    const found = npm();
    expect(() => pinned(found, uv())).not.toThrow();
    change();
    const refused: unknown = expect.objectContaining({ code: 'COMMAND_UNAVAILABLE' });
    expect(() => pinned(found)).toThrow(refused);
    expect(() => pinned(found)).toThrow(/npm-cache/u);
  });
});
