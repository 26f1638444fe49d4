import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { compileOptions } from './options.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-options-')));
  mkdirSync(join(folder, 'repo'));
  mkdirSync(join(folder, 'home'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const options = (more: object = {}) => ({
  bridgeUrl: 'http://127.0.0.1:4180',
  token: 'a-token',
  workerId: 'w',
  roots: [{ id: 'primary', root: join(folder, 'repo') }],
  stateDir: join(folder, 'state'),
  home: join(folder, 'home'),
  allowRoot: true,
  ...more,
});

describe('compileOptions', () => {
  it('[L19] offers no lanes unless the operator asks for them', () => {
    expect(compileOptions(options()).roots).toMatchObject([{ linkedWorktreeLanes: false }]);
  });

  it.each([
    ['no slots', { slots: 0 }, /slots/],
    ['more than eight slots', { slots: 9 }, /slots/],
    ['no root', { roots: [] }, /at least one root/],
    ['an address that is none', { bridgeUrl: 'ftp://x' }, /bridgeUrl/],
    ['a key that is unknown', { slot: 2 }, /slot/],
    ['an id that is none', { workerId: 'a b' }, /workerId/],
    [
      'a kind of cache that there is not',
      { roots: [{ id: 'p', root: '/srv', resources: [{ kind: 'x' }] }] },
      /kind/,
    ],
    ['plain http to another machine', { bridgeUrl: 'http://10.0.0.1' }, /--insecure-http/],
  ])('refuses %s', (_, more, message) => {
    expect(() => compileOptions(options(more))).toThrow(message);
  });

  it('takes https and, when told, plain http to another machine', () => {
    expect(() => compileOptions(options({ bridgeUrl: 'https://bridge.example' }))).not.toThrow();
    expect(() => compileOptions(options({ bridgeUrl: 'http://10.0.0.1', insecureHttp: true }))).not.toThrow();
  });

  it('refuses a root that would show the worker its own state or the operator home to agents', () => {
    expect(() => compileOptions(options({ stateDir: join(folder, 'repo/state') }))).toThrow(/--state/);
    expect(() => compileOptions(options({ home: join(folder, 'repo') }))).toThrow(/home folder/);
  });

  it('[X2] refuses a cache that overlaps a root or the state of the worker, by path or by link', () => {
    mkdirSync(join(folder, 'cache'), { mode: 0o700 });
    symlinkSync(join(folder, 'repo'), join(folder, 'link'));
    const sharing = (path: string) =>
      options({
        roots: [
          {
            id: 'primary',
            root: join(folder, 'repo'),
            resources: [{ kind: 'npm-cache', path: join(folder, path), access: 'read-write' }],
          },
        ],
      });
    expect(() => compileOptions(sharing('cache'))).not.toThrow();
    for (const path of ['repo', 'repo/cache', '', 'state', 'state/homes', 'link']) {
      expect(() => compileOptions(sharing(path))).toThrow(/overlap/u);
    }
  });

  it('[D6] refuses a store of snapshots that commands could reach, or that holds what they reach', () => {
    for (const name of ['store', 'cache']) mkdirSync(join(folder, name), { mode: 0o700 });
    symlinkSync(join(folder, 'repo'), join(folder, 'link'));
    const keeping = (store: string) => {
      const snapshot = { store: join(folder, store), paths: ['node_modules'] };
      const setup = { command: 'npm ci', reuse: { inputs: ['lock'], checkCommand: 'true', snapshot } };
      const resources = [{ kind: 'npm-cache', path: join(folder, 'cache'), access: 'read-write' }];
      return options({ roots: [{ id: 'primary', root: join(folder, 'repo'), setup, resources }] });
    };
    expect(() => compileOptions(keeping('store'))).not.toThrow();
    for (const path of ['repo', 'repo/store', '', 'state', 'state/homes', 'cache/store', 'link']) {
      expect(() => compileOptions(keeping(path))).toThrow(/store of snapshots .* overlap/u);
    }
  });

  it('refuses to be root unless told', () => {
    vi.spyOn(process, 'getuid').mockReturnValue(0);
    expect(() => compileOptions(options({ allowRoot: false }))).toThrow(/--allow-root/);
  });
});
