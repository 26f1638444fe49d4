import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadDefinition } from './load-definition.js';
import { MachineFixture } from './testing/machine-fixture.js';

let machine: MachineFixture;
beforeEach(() => {
  machine = new MachineFixture();
  machine.makeFolder('src');
});
afterEach(() => {
  machine.remove();
});

const load = (lines: readonly string[]) =>
  loadDefinition(machine.write('env.yaml', ['name: primary', 'root: src', ...lines, ''].join('\n')));
const loadRepositories = (...paths: readonly string[]) =>
  load(['repositories:', ...paths.map((path) => `  - path: ${path}`)]);

describe('loadDefinition, of one root', () => {
  it('resolves the root against the folder in which the file lies', () => {
    machine.write('conf/env.yaml', 'name: a\nroot: ../src\n');
    symlinkSync('conf/env.yaml', machine.path('link.yaml'));
    expect(loadDefinition(machine.path('link.yaml'))).toMatchObject({ name: 'a', root: machine.path('src') });
  });

  it('gives what says nothing about it no network, no actions and no repositories', () => {
    expect(load([])).toMatchObject({ network: { kind: 'none' }, actions: [], repositories: [] });
  });

  it('gives a definition without newer keys the fingerprint that it has always had', () => {
    const { fingerprint } = load([
      'actions: [{ command: npm test, name: test }]',
      'ref: main',
      'setup: { command: npm ci }',
    ]);
    const before = {
      name: 'primary',
      root: machine.path('src'),
      ref: 'main',
      setup: { command: 'npm ci', timeoutMs: 300_000 },
      actions: [{ name: 'test', command: 'npm test', timeoutMs: 30_000 }],
    };
    expect(fingerprint).toBe(createHash('sha256').update(JSON.stringify(before)).digest('hex'));
  });

  it('changes the fingerprint with what is run', () => {
    const one = load(['setup: { command: npm ci }']).fingerprint;
    expect(load(['setup: { command: npm install }']).fingerprint).not.toBe(one);
    expect(load(['setup: { command: npm ci }']).fingerprint).toBe(one);
  });

  it.each([
    ['missing', 'none', /env\.yaml:2:7: root: .*does not exist/u],
    ['a file', 'file', /env\.yaml:2:7: root: .*not a folder/u],
    ['the whole machine', '/', /env\.yaml:2:7: root: .*whole machine/u],
  ])('refuses a root that is %s, and shows it', (_, root, message) => {
    machine.write('file', '');
    const file = machine.write('env.yaml', `name: a\nroot: ${root}\n`);
    expect(() => loadDefinition(file)).toThrow(message);
  });
});

describe('loadDefinition, of repositories', () => {
  it('[T39] finds each beneath a root that is no checkout itself', () => {
    machine.makeCheckout('src/repo-a');
    machine.makeCheckout('src/tools/repo-b');
    const { repositories } = loadRepositories('repo-a', 'tools/repo-b');
    expect(repositories).toMatchObject([
      { path: 'repo-a', id: 'repo-a', workspaceId: 'primary:repo-a', checkout: machine.path('src/repo-a') },
      {
        path: 'tools/repo-b',
        id: 'tools.repo-b',
        workspaceId: 'primary:tools.repo-b',
        checkout: machine.path('src/tools/repo-b'),
      },
    ]);
  });

  it('gives one without network: that of the environment, and lets another have its own', () => {
    machine.makeCheckout('src/a');
    machine.makeCheckout('src/b');
    machine.makeCheckout('src/c');
    const { repositories } = load([
      'network: public',
      'repositories:',
      '  - path: a',
      '  - { path: b, network: none }',
      '  - { path: c, network: public }',
    ]);
    expect(repositories.map(({ network }) => network)).toEqual([
      { kind: 'public' },
      { kind: 'none' },
      { kind: 'public', repository: 'c' },
    ]);
  });

  it('keeps the fingerprint of one when another changes', () => {
    machine.makeCheckout('src/a');
    machine.makeCheckout('src/b');
    const fingerprints = (slots: number) =>
      load(['repositories:', '  - path: a', `  - { path: b, slots: ${slots} }`]).repositories.map(
        ({ fingerprint }) => fingerprint,
      );
    const [a, b] = fingerprints(1);
    expect(fingerprints(2)[0]).toBe(a);
    expect(fingerprints(2)[1]).not.toBe(b);
  });

  it('[T29] takes a checkout that Git made, and refuses its linked worktree and its submodule', () => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: machine.path('src'), stdio: 'pipe' });
    git('init', '--quiet', 'a');
    git(
      '-C',
      'a',
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit',
      '--quiet',
      '--allow-empty',
      '--message=one',
    );
    git('-C', 'a', 'worktree', 'add', '--quiet', '../linked');
    const allowed = ['-c', 'protocol.file.allow=always'];
    git(...allowed, '-C', 'a', 'submodule', '--quiet', 'add', machine.path('src/a'), 'inner');
    expect(loadRepositories('a').repositories).toHaveLength(1);
    expect(() => loadRepositories('a', 'linked')).toThrow(
      /repositories\.1\.path: is a linked worktree, as its \.git is a file.*: name the main working tree/u,
    );
    expect(() => loadRepositories('a/inner')).toThrow(/repositories\.0\.path: is a submodule.*: clone it/u);
  });

  it('[T30] refuses a repository whose Git directory is elsewhere, and takes it after what the refusal says', () => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: machine.path('src'), stdio: 'pipe' });
    git('init', '--quiet', '--separate-git-dir', machine.path('elsewhere'), 'separate');
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    git('-C', 'separate', ...identity, 'commit', '--quiet', '--allow-empty', '--message=one');
    git('-C', 'separate', 'worktree', 'add', '--quiet', '.worktrees/a');
    expect(() => loadRepositories('separate')).toThrow(
      /repositories\.0\.path: is a repository that keeps its Git directory elsewhere .*"git worktree repair"/u,
    );
    rmSync(machine.path('src/separate/.git'));
    renameSync(machine.path('elsewhere'), machine.path('src/separate/.git'));
    git('-C', 'separate', 'worktree', 'repair', '.worktrees/a');
    expect(loadRepositories('separate').repositories).toHaveLength(1);
    expect(git('-C', 'separate/.worktrees/a', 'status', '--short').toString()).toBe('');
  });

  it.each([
    ['is missing', 'none', /no such folder/u],
    ['is a file', 'file', /is not a folder/u],
    ['has no .git', 'plain', /no \.git/u],
    ['is a link', 'link', /symbolic link/u],
    ['lies behind a link', 'link/inner', /symbolic link/u],
    ['has a .git that is a link', 'linked-git', /\.git that is not a real directory/u],
    ['has a .git that leads elsewhere', 'redirected', /commondir/u],
  ])('refuses a path that %s, and shows it', (_, path, message) => {
    machine.write('src/file', '');
    machine.makeFolder('src/plain');
    machine.makeCheckout('outside');
    machine.makeCheckout('outside/inner');
    symlinkSync('../outside', machine.path('src/link'));
    machine.makeFolder('src/linked-git');
    symlinkSync('../../outside/.git', machine.path('src/linked-git/.git'));
    machine.makeCheckout('src/redirected');
    machine.write('src/redirected/.git/commondir', '../../../outside/.git\n');
    expect(() => loadRepositories(path)).toThrow(message);
    expect(() => loadRepositories(path)).toThrow(/env\.yaml:4:11: repositories\.0\.path: /u);
  });

  it('opens no more descriptors than it closes', () => {
    machine.makeCheckout('src/a');
    const open = () => readdirSync('/proc/self/fd').length;
    loadRepositories('a');
    const before = open();
    for (const path of ['a', 'none', '.x', 'a']) {
      try {
        loadRepositories(path);
      } catch {
        // What is refused has to be closed too.
      }
    }
    expect(open()).toBe(before);
  });

  it('follows a checkout by its declared path, whatever stood there before', () => {
    const moved = machine.makeCheckout('src/a');
    const [first] = loadRepositories('a').repositories;
    renameSync(moved, machine.path('src/old'));
    machine.makeCheckout('src/a');
    const [second] = loadRepositories('a').repositories;
    expect(second?.checkout).toBe(first?.checkout);
    expect(second?.identity).not.toEqual(first?.identity);
  });
});
