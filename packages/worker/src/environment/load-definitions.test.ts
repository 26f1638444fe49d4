import { statSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DefinitionError, type FaultOfFile } from './definition-error.js';
import { loadDefinitions } from './load-definitions.js';
import { MountTable } from './mount-table.js';
import { MachineFixture } from './testing/machine-fixture.js';

let machine: MachineFixture;
beforeEach(() => {
  machine = new MachineFixture();
  machine.makeFolder('src');
  machine.makeFolder('other');
});
afterEach(() => {
  machine.remove();
});

const define = (name: string, root: string, ...lines: readonly string[]) =>
  machine.write(`${name}.yaml`, [`name: ${name}`, `root: ${root}`, ...lines, ''].join('\n'));

function faultsOf(act: () => void): readonly FaultOfFile[] {
  try {
    act();
  } catch (error) {
    if (error instanceof DefinitionError) return error.faults;
    throw error;
  }
  return [];
}

describe('loadDefinitions', () => {
  it('loads several', () => {
    const loaded = loadDefinitions([define('a', 'src'), define('b', 'other')]);
    expect(loaded.map(({ name, root }) => [name, root])).toEqual([
      ['a', machine.path('src')],
      ['b', machine.path('other')],
    ]);
  });

  it('refuses one name for two environments, and a root that bears the name of a repository', () => {
    const again = machine.write('again.yaml', 'name: a\nroot: other\n');
    expect(() => loadDefinitions([define('a', 'src'), again])).toThrow(
      /again\.yaml:1:7: name: "a" is the workspace of .*a\.yaml/u,
    );
    machine.makeCheckout('src/b');
    const file = define('a', 'src', 'repositories: [{ path: b }]');
    expect(() => loadDefinitions([file], [{ id: 'a:b', root: machine.path('other') }])).toThrow(
      /repositories\.0: "a:b" is the workspace of/u,
    );
  });

  it('tells all that is wrong, in every file, of the text first and then of the folders', () => {
    machine.makeCheckout('src/b');
    const text = machine.write('text.yaml', 'nam: a\nroot: src\nnetwrk: none\n');
    const folders = define('a', 'src', 'repositories: [{ path: gone }, { path: b }, { path: lost }]');
    const twice = machine.write('twice.yaml', 'name: a\nname: b\nroot: src\nroot: src\n');
    const faults = faultsOf(() => loadDefinitions([text, folders, twice]));
    expect(faults.map(({ file, key, position }) => [file, key ?? position?.line])).toEqual([
      [text, 'name'],
      [text, 'nam'],
      [text, 'netwrk'],
      [folders, 'repositories.0.path'],
      [folders, 'repositories.2.path'],
      [twice, 2],
      [twice, 4],
    ]);
    const inRoots = ['src/one.yaml', 'src/two.yaml'].map((name, index) =>
      machine.write(name, `name: n${index}\nroot: ${['.', '../other'][index] ?? ''}\n`),
    );
    expect(faultsOf(() => loadDefinitions(inRoots)).map(({ file }) => file)).toEqual(inRoots);
  });

  it('offers 32 workspaces in all and refuses a 33rd', () => {
    for (let index = 0; index < 31; index += 1) machine.makeCheckout(`src/r${index}`);
    const repositories = (count: number) => [
      'repositories:',
      ...Array.from({ length: count }, (_, index) => `  - path: r${index}`),
    ];
    expect(loadDefinitions([define('a', 'src', ...repositories(31))])).toHaveLength(1);
    const thirtyOne = define('a', 'src', ...repositories(30));
    expect(loadDefinitions([thirtyOne, define('b', 'other')])).toHaveLength(2);
    machine.makeFolder('third');
    expect(() => loadDefinitions([thirtyOne, define('b', 'other'), define('c', 'third')])).toThrow(
      /c\.yaml:1:7: name: is one workspace too many; expected at most 32/u,
    );
  });

  describe('refuses what agents could change for the next start', () => {
    it('a definition in a root', () => {
      const file = machine.write('src/env.yaml', 'name: a\nroot: .\n');
      expect(() => loadDefinitions([file])).toThrow(
        /src\/env\.yaml:1:1: this file can be reached from the root/u,
      );
    });

    it('a definition in another root', () => {
      const file = machine.write('other/env.yaml', 'name: a\nroot: ../src\n');
      expect(() => loadDefinitions([file], [{ id: 'o', root: machine.path('other') }])).toThrow(
        /can be reached/u,
      );
    });

    it('a definition that a link in a root leads to', () => {
      const file = define('a', 'src');
      symlinkSync(file, machine.path('other/env.yaml'));
      const linked = machine.path('other/env.yaml');
      expect(() => loadDefinitions([linked], [{ id: 'o', root: machine.path('other') }])).toThrow(
        /can be reached/u,
      );
    });

    it('a definition whose folder is mounted in a root', () => {
      const file = machine.write('conf/env.yaml', 'name: a\nroot: ../src\n');
      const mounts = new MountTable(
        `1 0 8:1 / / rw - ext4 x rw\n2 1 8:1 ${machine.path('conf')} ${machine.path('src/mnt')} rw - ext4 x rw\n`,
      );
      expect(() => loadDefinitions([file], [], mounts)).toThrow(/can be reached/u);
    });

    it('a root that is found through a root', () => {
      symlinkSync('../third', machine.path('other/link'));
      machine.makeFolder('third');
      const file = define('a', 'other/link');
      expect(loadDefinitions([file])).toHaveLength(1);
      expect(() => loadDefinitions([file], [{ id: 'o', root: machine.path('other') }])).toThrow(
        /a\.yaml:2:7: root: leads through the root/u,
      );
    });

    it('a root that is found through itself', () => {
      symlinkSync('.', machine.path('src/self'));
      expect(() => loadDefinitions([define('a', 'src/self')])).toThrow(/leads through the root/u);
    });

    it('but takes a root that a link outside of it leads to', () => {
      symlinkSync('src', machine.path('link'));
      expect(loadDefinitions([define('a', 'link')])).toMatchObject([{ root: machine.path('src') }]);
    });
  });

  describe('refuses shared folders and secrets that are open to others or to agents', () => {
    const cache = (path: string) =>
      define('a', 'src', 'resources:', `  - { kind: npm-cache, path: ${path}, access: read-write }`);
    const tokenFile = (path: string) => {
      machine.makeCheckout('src/b');
      return define(
        'a',
        'src',
        'repositories:',
        '  - path: b',
        '    remote: https://example.org/b',
        `    credentials: { kind: token-file, path: ${path} }`,
      );
    };

    it('takes what is its owner’s alone', () => {
      machine.makeFolder('cache', 0o700);
      expect(loadDefinitions([cache(machine.path('cache'))])).toHaveLength(1);
      const token = machine.write('token', 'secret', 0o600);
      expect(loadDefinitions([tokenFile(token)])).toHaveLength(1);
    });

    it('a folder that others may look into', () => {
      machine.makeFolder('cache', 0o755);
      expect(statSync(machine.path('cache')).mode & 0o077).not.toBe(0);
      expect(() => loadDefinitions([cache(machine.path('cache'))])).toThrow(
        /resources\.0\.path: .*chmod 700/u,
      );
    });

    it.each([
      ['beneath the root', 'src/cache'],
      ['that holds the root', '.'],
    ])('a folder %s', (_, path) => {
      machine.makeFolder(path, 0o700);
      expect(() => loadDefinitions([cache(machine.path(path))])).toThrow(/resources\.0\.path: .*overlap/u);
    });

    it('a token file that is open, linked, missing, a folder, or in the root', () => {
      const open = machine.write('open', 'secret', 0o644);
      symlinkSync(machine.write('token', 'secret', 0o600), machine.path('link'));
      const inside = machine.write('src/token', 'secret', 0o600);
      expect(() => loadDefinitions([tokenFile(open)])).toThrow(/credentials\.path: .*chmod 600/u);
      expect(() => loadDefinitions([tokenFile(machine.path('link'))])).toThrow(/symbolic link/u);
      expect(() => loadDefinitions([tokenFile(machine.path('none'))])).toThrow(/does not exist/u);
      expect(() => loadDefinitions([tokenFile(machine.makeFolder('folder', 0o700))])).toThrow(/is no file/u);
      expect(() => loadDefinitions([tokenFile(inside)])).toThrow(/overlap/u);
    });
  });
});
