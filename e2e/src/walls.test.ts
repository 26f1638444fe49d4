import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { successesOf } from './rig/attacks.js';
import type { Caller, Fields } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';
import { digestOf, type TreeDigest } from './rig/tree-digest.js';

let repository: Repository;
let deployment: Deployment;
let caller: Caller;

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  writeFileSync(join(repository.folder, 'secret'), 'of the operator\n');
  mkdirSync(repository.path('node_modules/leftpad'), { recursive: true });
  writeFileSync(repository.path('node_modules/leftpad/index.js'), 'module.exports = 1;\n');
  writeFileSync(repository.path('.git/hooks/pre-push'), '#!/bin/sh\n');
  repository.git('branch', 'packed');
  repository.git('pack-refs', '--all');
  for (const [file, content] of [
    ['.npmrc', 'token'],
    ['.ssh/id_ed25519', 'key'],
    ['.cargo/credentials.toml', 'token'],
    ['.local/bin/tool', '#!/bin/sh\necho tool\n'],
  ] as const) {
    mkdirSync(dirname(join(repository.folder, file)), { recursive: true });
    writeFileSync(join(repository.folder, file), content, { mode: 0o755 });
  }
  // The home holds the repository and the worker's state, as an operator's does.
  deployment = await Deployment.start(repository, { worker: { home: repository.folder } });
  caller = deployment.caller();
  // The first command of a lane makes the file that pins its own settings.
  await caller.run('true', 'a');
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

/** All but what a lane may write: its tree, its metadata, and the shared objects and refs. */
function keptOut(): TreeDigest {
  return digestOf(repository.root, [
    '.worktrees/a',
    '.git/worktrees/a',
    '.git/objects',
    '.git/refs',
    '.git/logs/refs',
  ]);
}

/** The files of a lane by which Git finds its way. */
function pointers(): TreeDigest {
  const metadata = digestOf(repository.path('.git/worktrees/a'));
  const names = ['commondir', 'gitdir', 'config.worktree'];
  return {
    pointer: digestOf(repository.path('.git', 'a'))['.'] ?? '',
    ...Object.fromEntries(names.map((name) => [name, metadata[name] ?? 'missing'])),
    info: JSON.stringify(digestOf(repository.path('.git/objects/info'))),
  };
}

describe('a scoped command', () => {
  const forbidden = (): Readonly<Record<string, string>> => ({
    'a file of a sibling': repository.path('file.txt', 'b'),
    'the pointer of a sibling': repository.path('.git', 'b'),
    'a file of the checkout': repository.path('file.txt'),
    HEAD: repository.path('.git/HEAD'),
    'the index': repository.path('.git/index'),
    config: repository.path('.git/config'),
    'a hook': repository.path('.git/hooks/pre-push'),
    'info/exclude': repository.path('.git/info/exclude'),
    'packed-refs': repository.path('.git/packed-refs'),
    'the HEAD of a sibling': repository.path('.git/worktrees/b/HEAD'),
    'the index of a sibling': repository.path('.git/worktrees/b/index'),
    'the gitdir of a sibling': repository.path('.git/worktrees/b/gitdir'),
    'the commondir of a sibling': repository.path('.git/worktrees/b/commondir'),
    'its own pointer': repository.path('.git', 'a'),
    'its own commondir': repository.path('.git/worktrees/a/commondir'),
    'its own gitdir': repository.path('.git/worktrees/a/gitdir'),
    'its own config.worktree': repository.path('.git/worktrees/a/config.worktree'),
  });

  const means: readonly (readonly [string, (target: string) => string])[] = Object.entries({
    write: (target: string) => `echo x >> ${target}`,
    truncate: (target: string) => `truncate -s 0 ${target}`,
    remove: (target: string) => `rm ${target}`,
    chmod: (target: string) => `chmod 777 ${target}`,
    'rename over': (target: string) => `echo x > mine; mv -f mine ${target}`,
    'rename away': (target: string) => `mv ${target} taken`,
    'exchange its folder': (target: string) => `mv $(dirname ${target}) $(dirname ${target}).old`,
    'symlink in its place': (target: string) => `ln -sfn /etc/passwd ${target}`,
    'write through a symlink': (target: string) => `rm -f way; ln -s ${target} way; echo x >> way`,
    'write through a symlink to its folder': (target: string) =>
      `rm -f way; ln -s $(dirname ${target}) way; echo x >> way/$(basename ${target})`,
    'hard link': (target: string) => `ln ${target} second && echo x >> second`,
  });

  it.each(means)(
    '[L24] [L15] [T07] [T08] [T09] [T31] changes nothing outside its lane by: %s',
    async (_, attack) => {
      const before = [keptOut(), pointers()];
      const attacks = Object.entries(forbidden()).map(([what, path]): [string, string] => [
        what,
        attack(path),
      ]);
      const through = await successesOf(caller, 'a', Object.fromEntries(attacks));
      expect(through).toEqual([]);
      expect([keptOut(), pointers()]).toEqual(before);
    },
  );

  it('[L24] [L15] makes nothing new beside its lane either', async () => {
    const before = [keptOut(), pointers()];
    const { root } = repository;
    const through = await successesOf(caller, 'a', {
      'a file in the checkout': `touch ${root}/new`,
      'a folder of a sibling': `mkdir -p ${root}/.worktrees/b`,
      'another worktree': `mkdir ${root}/.worktrees/c`,
      'a hook': `echo x > ${root}/.git/hooks/post-commit`,
      'another hooks folder': `mv ${root}/.git/hooks ${root}/.git/objects/hooks`,
      attributes: `echo x > ${root}/.git/info/attributes`,
      'a common directory of Git': `echo x > ${root}/.git/commondir`,
      alternates: `echo /etc > ${root}/.git/objects/info/alternates`,
      'settings for all worktrees': `echo x > ${root}/.git/config.worktree`,
      'metadata of a worktree': `mkdir ${root}/.git/worktrees/z`,
      'a lock of the index of a sibling': `touch ${root}/.git/worktrees/b/index.lock`,
      'a module': `mkdir -p ${root}/.git/modules/m`,
      'another .git': `mv ${root}/.git ${root}/git2`,
      'its own folder moved': `cd / && mv ${root}/.worktrees/a ${root}/.worktrees/c`,
      'its own folder a link': `cd / && rm -rf ${root}/.worktrees/a; ln -sT /etc ${root}/.worktrees/a`,
      'its own metadata moved': `mv ${root}/.git/worktrees/a ${root}/.git/worktrees/c`,
      'the refs a link': `mv ${root}/.git/refs ${root}/.git/objects/r && ln -s /etc ${root}/.git/refs`,
    });
    expect(through).toEqual([]);
    expect([keptOut(), pointers()]).toEqual(before);
    repository.gitIn(repository.path('', 'a'), 'checkout', '--quiet', '--', '.');
  });

  it.each(['git', '/usr/bin/git'])(
    '[L24] [L15] is not let out by Git itself: -C, GIT_DIR, --git-dir, work trees and settings with %s',
    async (git) => {
      const before = [keptOut(), pointers()];
      const { root } = repository;
      const commit = 'commit --quiet --allow-empty --message=x';
      const through = await successesOf(caller, 'a', {
        '-C to a sibling': `${git} -C ${root}/.worktrees/b ${commit}`,
        '-C to the checkout': `${git} -C ${root} ${commit}`,
        'GIT_DIR of the checkout': `GIT_DIR=${root}/.git ${git} ${commit}`,
        'GIT_DIR of a sibling': `GIT_DIR=${root}/.git/worktrees/b ${git} ${commit}`,
        '--git-dir of the checkout': `${git} --git-dir=${root}/.git ${commit}`,
        '--git-dir of a sibling': `${git} --git-dir=${root}/.git/worktrees/b ${commit}`,
        'reset of the checkout': `GIT_DIR=${root}/.git GIT_WORK_TREE=${root} ${git} reset --hard`,
        'add to the index of the checkout': `GIT_DIR=${root}/.git GIT_WORK_TREE=. ${git} add -A`,
        'add to the index of a sibling': `GIT_DIR=${root}/.git/worktrees/b GIT_WORK_TREE=. ${git} add -A`,
        'the index of the checkout': `GIT_INDEX_FILE=${root}/.git/index ${git} add -A`,
        'HEAD of the checkout': `${git} --git-dir=${root}/.git symbolic-ref HEAD refs/heads/packed`,
        'HEAD of a sibling': `${git} symbolic-ref worktrees/b/HEAD refs/heads/packed`,
        'a setting': `${git} config core.fsmonitor /bin/false`,
        'a setting by path': `${git} config --file ${root}/.git/config core.fsmonitor /bin/false`,
        'a setting of the worktree': `${git} config --worktree core.fsmonitor /bin/false`,
        'a remote': `${git} remote add evil /tmp`,
        'checkout of the branch of a sibling': `${git} checkout --quiet lane/b`,
        'a new worktree': `${git} worktree add --quiet --detach ${root}/.worktrees/z`,
        'a new worktree inside the lane': `${git} worktree add --quiet --detach inner`,
        'removal of a sibling': `${git} worktree remove --force ${root}/.worktrees/b`,
        'a move of a sibling': `${git} worktree move ${root}/.worktrees/b inner`,
        'a lock on a sibling': `${git} worktree lock ${root}/.worktrees/b`,
      });
      expect(through).toEqual([]);
      expect([keptOut(), pointers()]).toEqual(before);
    },
  );

  it("[L15] [T41] sees neither the checkout's files and modules nor the home, the worker's state or a sibling", async () => {
    const { root, folder } = repository;
    const hidden = [
      `${root}/file.txt`,
      `${root}/.gitignore`,
      `${root}/node_modules`,
      `${root}/.worktrees/b`,
      `${folder}/secret`,
      deployment.stateDir,
      '/root',
      '/home',
      '/var/log',
      '/var/lib/dpkg/../../spool',
    ];
    const seen = await caller.run(
      `for p in ${hidden.join(' ')}; do if [ -e $p ]; then echo "$p"; fi; done
       ls -A ${root} ${root}/.worktrees ${folder}`,
      'a',
    );
    expect(seen.stdout.split('\n').filter((line) => line.startsWith('/') && !line.endsWith(':'))).toEqual([]);
    expect(seen.stdout).not.toMatch(/^(?:b|secret|state|node_modules|file\.txt)$/mu);
    const required = await caller.run(`node -e 'require("leftpad")'`, 'a');
    expect(required.exitCode).not.toBe(0);
    expect(required.stderr).toContain("Cannot find module 'leftpad'");
    expect((await caller.run(`node -e 'require("leftpad")'`)).exitCode).toBe(0);
  });

  it('[L15] sees the tools of the home, read-only, and none of its credentials', async () => {
    const home = repository.folder;
    expect((await caller.run(`${home}/.local/bin/tool`, 'a')).stdout).toBe('tool\n');
    const through = await successesOf(caller, 'a', {
      'write a tool': `echo x > ${home}/.local/bin/tool`,
      'add a tool': `touch ${home}/.local/bin/other`,
      'read .npmrc': `cat ${home}/.npmrc`,
      'read a key': `cat ${home}/.ssh/id_ed25519`,
      'read credentials': `cat ${home}/.cargo/credentials.toml`,
    });
    expect(through).toEqual([]);
    expect((await caller.run('echo $HOME; echo kept > ~/note', 'a')).stdout).not.toContain(home);
    expect((await caller.run('cat ~/note', 'a')).stdout).toBe('kept\n');
    expect((await caller.run('cat ~/note', 'b')).exitCode).not.toBe(0);
  });

  it('[T18] leaves nothing behind but what it did itself', async () => {
    const before = digestOf(repository.root);
    await caller.run('git status --short; true', 'a');
    expect(digestOf(repository.root)).toEqual(before);
  });

  it('[L15] finds the secrets of the machine masked', async () => {
    const masked = await caller.run(
      'for f in /etc/shadow /etc/gshadow /etc/sudoers; do [ -s $f ] && echo $f; done; ls -A /etc/ssh /etc/ssl/private 2>/dev/null | grep -v :',
      'a',
    );
    expect(masked.stdout.trim()).toBe('');
  });

  it('[T41] cannot empty the modules of the checkout through a link, nor write into them', async () => {
    const before = keptOut();
    symlinkSync('../../node_modules', repository.path('node_modules', 'a'));
    const through = await successesOf(caller, 'a', {
      empty: 'rm node_modules/leftpad/index.js',
      write: 'touch node_modules/x',
    });
    expect(through).toEqual([]);
    expect(keptOut()).toEqual(before);
    await caller.run('rm node_modules', 'a');
  });

  it('[T01] [T02] still edits, commits and reads its history', async () => {
    const run = await caller.run(
      'set -e; echo mine > mine; git add mine; git commit -qm mine; git status --short; git log -1 --format=%s',
      'a',
    );
    expect(run).toMatchObject({ exitCode: 0, stdout: 'mine\n' });
    expect(repository.git('log', '-1', '--format=%s', 'lane/a')).toBe('mine\n');
  });
});

describe('the attacks themselves', () => {
  it('get through where they may: the checkout changes its worktrees and its own files', async () => {
    const allowed = ['b/file.txt', 'b/second'].map((path) => repository.path(`.worktrees/${path}`));
    const [target = ''] = allowed;
    const attacks = {
      write: `echo x >> ${target}`,
      link: `ln ${target} second`,
      rename: `mv second ${allowed[1] ?? ''}`,
    };
    expect(await successesOf(caller, undefined, attacks)).toEqual(Object.keys(attacks));
    expect(keptOut()).toHaveProperty(['.worktrees/b/second']);
  });
});

describe('file tools', () => {
  const gitPaths = [
    '.git',
    '.git/config',
    '.git/hooks/post-commit',
    '.GIT/config',
    '.Git/new',
    'sub/.git/hooks/x',
    'sub/deeper/.gIt',
    '.git./config',
    '.git /config',
    'git~1/config',
    '.g\u200cit/config',
    'by-folder/config',
    'by-folder/new/deep',
    'by-file',
    'nested/by-folder/hooks/post-commit',
  ];

  beforeAll(() => {
    for (const worktree of [undefined, 'a']) {
      mkdirSync(repository.path('nested', worktree));
      mkdirSync(repository.path('sub', worktree));
      symlinkSync('.git', repository.path('by-folder', worktree));
      symlinkSync(worktree === undefined ? '.git/config' : '.git', repository.path('by-file', worktree));
      symlinkSync('../.git', repository.path('nested/by-folder', worktree));
    }
  });

  const writes = (path: string): Fields[] => [
    { operation: 'write_file', path, content: 'x' },
    { operation: 'write_file', path, content: 'x', overwrite: false },
    { operation: 'edit_file', path, oldText: 'core', newText: 'x' },
    { operation: 'edit_file', path, edits: [{ oldText: 'gitdir', newText: 'x' }], matching: 'tolerant' },
    { operation: 'preview_edit', path, oldText: 'core', newText: 'x' },
  ];

  it.each([
    ['the checkout', undefined],
    ['a worktree', 'a'],
  ])('change no .git path of %s, in any case, nested or through links', async (_, worktree) => {
    const before = digestOf(repository.root);
    const lane = worktree === undefined ? {} : { worktree };
    const calls = gitPaths.flatMap((path) => writes(path));
    for (const fields of calls) {
      const refusal = await caller.refused({ ...fields, ...lane });
      expect({ ...fields, ...refusal }).toMatchObject({ status: 422 });
      expect(['INVALID_PATH', 'NOT_FOUND']).toContain(refusal.code);
      expect(refusal.error).toMatch(/\.$/u);
    }
    expect(digestOf(repository.root)).toEqual(before);
  });

  it('change the file behind a second name only in the lane: a hard link keeps what it was', async () => {
    const config = repository.path('.git/config');
    linkSync(config, repository.path('second', 'a'));
    const before = digestOf(repository.path('.git'), ['config']);
    await caller.call({ operation: 'write_file', path: 'second', content: 'x', worktree: 'a' });
    expect(digestOf(repository.path('.git'), ['config'])).toEqual(before);
    expect(repository.git('config', 'user.name')).toBe('Tester\n');
  });
});
