import { execFileSync } from 'node:child_process';
import {
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Caller, Fields } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { childrenOf } from './rig/live-children.js';
import { RecordingPrograms } from './rig/recording-programs.js';
import { Repository } from './rig/repository.js';
import { digestOf } from './rig/tree-digest.js';

let repository: Repository;
let deployment: Deployment;
let caller: Caller;
let programs: RecordingPrograms;
/** The repository as Git made it, for each test to begin with. */
let pristine: string;

const at = (relative: string): string => repository.path(relative);
const copy = (from: string, to: string): void => {
  execFileSync('cp', ['-a', from, to]);
};
const host = (script: string): void => {
  execFileSync('/bin/sh', ['-ec', script], { cwd: repository.root, stdio: 'ignore' });
};

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  for (const name of ['other', 'module']) {
    const folder = join(repository.folder, name);
    mkdirSync(folder);
    repository.gitIn(folder, 'init', '--quiet');
  }
  // As a submodule has it: its Git directory lies elsewhere.
  renameSync(join(repository.folder, 'module/.git'), join(repository.folder, 'module-git'));
  writeFileSync(join(repository.folder, 'module/.git'), 'gitdir: ../module-git\n');
  programs = new RecordingPrograms(repository.folder, { git: '/usr/bin/git', rg: '/usr/bin/rg' });
  deployment = await Deployment.start(repository, {
    slots: 2,
    environment: programs.environment,
    worker: {
      roots: [
        { id: 'primary', root: repository.root, linkedWorktreeLanes: true },
        { id: 'module', root: join(repository.folder, 'module'), linkedWorktreeLanes: true },
      ],
    },
  });
  caller = deployment.caller();
  for (const lane of ['a', 'b']) await caller.run('true', lane);
  pristine = join(repository.folder, 'pristine');
  mkdirSync(pristine);
  host(`cp -a . ${pristine}`);
});
beforeEach(() => {
  programs.forget();
});
afterEach(() => {
  // The root and its .git stay the folders that the worker has pinned; what is in them is made anew.
  host(`find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +; find .git -mindepth 1 -maxdepth 1 -exec rm -rf {} +
        for each in ${pristine}/* ${pristine}/.gitignore ${pristine}/.worktrees; do cp -a $each .; done; cp -a ${pristine}/.git/. .git`);
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

/** One call of every kind; each would leave a trace if it were let in. */
const everyCall: readonly Fields[] = [
  { operation: 'execute_command', command: 'touch ran' },
  { operation: 'write_file', path: 'written', content: 'x' },
  { operation: 'edit_file', path: 'file.txt', oldText: 'one', newText: 'two' },
  { operation: 'preview_edit', path: 'file.txt', oldText: 'one', newText: 'two' },
  { operation: 'read_file', path: 'file.txt' },
  { operation: 'list_files' },
  { operation: 'search_text', query: 'one' },
];

/** The processes that stand by to become sandboxes. */
const standingBy = 3;

/**
 * The worker's children, when all that are to stand by do: a sandbox is made of one of these, another of
 * which takes its place later, so that no start of one leaves them as they are.
 */
async function restingChildren(): Promise<number[]> {
  const children = () => childrenOf(deployment.worker?.pid ?? 0);
  await expect
    .poll(() => children().filter(({ words: [program] }) => program?.endsWith('perl')))
    .toHaveLength(standingBy);
  return children().map(({ pid }) => pid);
}

/** Every kind of call there is refused, says why, starts no program and writes nothing anywhere. */
async function expectRefused(
  worktree: string,
  words: string | RegExp,
  code = 'INVALID_REQUEST',
): Promise<void> {
  const before = digestOf(repository.folder, ['pristine']);
  const children = await restingChildren();
  for (const fields of everyCall) {
    const refusal = await caller.refused({ ...fields, worktree });
    expect(refusal.code).toBe(code);
    expect(refusal.error).toMatch(words);
    expect(refusal.error).toMatch(/\.$/u);
  }
  expect(programs.started()).toEqual([]);
  expect(await restingChildren()).toEqual(children);
  expect(digestOf(repository.folder, ['pristine'])).toEqual(before);
}

async function expectAccepted(worktree: string, metadata = worktree): Promise<void> {
  const script = `set -e; echo x > new; /usr/bin/git add new; /usr/bin/git commit -qm "from ${worktree}"; /usr/bin/git rev-parse --git-dir`;
  const run = await caller.run(script, worktree);
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(run.stdout.trim().endsWith(`.git/worktrees/${metadata}`)).toBe(true);
  expect(await caller.succeed({ operation: 'read_file', path: 'new', worktree })).toMatchObject({
    content: 'x',
  });
}

describe('[L25] [L8] [L9] [L10] forged worktrees are refused before anything is spawned or written', () => {
  it('[S5: symlinked directory] to a sibling, to another folder of the root, to elsewhere', async () => {
    symlinkSync('b', at('.worktrees/alias'));
    await expectRefused('alias', '".worktrees/alias" is a symbolic link');
    mkdirSync(at('inside'));
    symlinkSync('../inside', at('.worktrees/inside'));
    await expectRefused('inside', 'is a symbolic link');
    renameSync(at('.worktrees/a'), at('moved'));
    symlinkSync(at('moved'), at('.worktrees/a'));
    await expectRefused('a', 'is a symbolic link');
    symlinkSync('/tmp', at('.worktrees/tmp'));
    await expectRefused('tmp', 'is a symbolic link');
  });

  it('[S5: symlinked .worktrees]', async () => {
    renameSync(at('.worktrees'), at('real'));
    symlinkSync('real', at('.worktrees'));
    await expectRefused('a', '".worktrees" is a symbolic link');
  });

  it('[S5: symlinked .git]', async () => {
    renameSync(at('.worktrees/a/.git'), at('.worktrees/a/pointer'));
    symlinkSync('pointer', at('.worktrees/a/.git'));
    await expectRefused('a', 'symbolic link');
  });

  it('[S5: .git is a directory]', async () => {
    rmSync(at('.worktrees/a/.git'));
    copy(at('.git'), at('.worktrees/a/.git'));
    await expectRefused('a', 'pointer');
  });

  it('[S5: .git is a FIFO] at once', async () => {
    rmSync(at('.worktrees/a/.git'));
    execFileSync('mkfifo', [at('.worktrees/a/.git')]);
    await expectRefused('a', 'not a regular file');
  });

  it('[S5: hard-linked .git]', async () => {
    linkSync(at('.worktrees/a/.git'), at('second-name'));
    await expectRefused('a', 'hard link');
  });

  it('[S5: missing .git] never falls back to the checkout', async () => {
    rmSync(at('.worktrees/a/.git'));
    await expectRefused('a', 'does not exist');
    mkdirSync(at('.worktrees/plain'));
    await expectRefused('plain', 'does not exist');
    await expectRefused('none', 'git worktree add');
  });

  it.each([
    ['another repository', () => join(repository.folder, 'other/.git')],
    ["the root's .git", () => at('.git')],
    ['the registry itself', () => at('.git/worktrees')],
    ['a climb to the right place', () => `${at('.git/worktrees/b')}/../a`],
    ['a folder beneath metadata', () => at('.git/worktrees/a/logs')],
    ['a relative climb too far', () => '../../../.git/worktrees/a'],
    ['nothing', () => ''],
  ])('[S5: gitdir to elsewhere] to %s', async (_, target) => {
    writeFileSync(at('.worktrees/a/.git'), `gitdir: ${target()}\n`);
    await expectRefused('a', 'point');
  });

  it("[S5: gitdir to a sibling's metadata]", async () => {
    writeFileSync(at('.worktrees/a/.git'), `gitdir: ${at('.git/worktrees/b')}\n`);
    await expectRefused('a', 'does not point back');
  });

  it('[S5: commondir missing]', async () => {
    rmSync(at('.git/worktrees/a/commondir'));
    await expectRefused('a', '"commondir" does not exist');
  });

  it('[S5: commondir symlink]', async () => {
    rmSync(at('.git/worktrees/a/commondir'));
    symlinkSync('../b/commondir', at('.git/worktrees/a/commondir'));
    await expectRefused('a', 'symbolic link');
  });

  it('[S5: commondir of another repository]', async () => {
    for (const text of [join(repository.folder, 'other/.git'), '..', './../..', '../../../../other/.git']) {
      writeFileSync(at('.git/worktrees/a/commondir'), `${text}\n`);
      await expectRefused('a', 'does not lead to');
    }
  });

  it('[S5: back pointer elsewhere]', async () => {
    writeFileSync(at('.git/worktrees/a/gitdir'), `${at('.worktrees/b/.git')}\n`);
    await expectRefused('a', 'worktree repair');
  });

  it('[S5: moved by mv] offers the repair, which helps', async () => {
    renameSync(at('.worktrees/a'), at('.worktrees/moved'));
    await expectRefused('moved', 'git worktree repair .worktrees/moved');
    repository.git('worktree', 'repair', '.worktrees/moved');
    await expectAccepted('moved', 'a');
  });

  it('[S5: copied by cp -a] the copy, not the original', async () => {
    copy(at('.worktrees/a'), at('.worktrees/copy'));
    await expectRefused('copy', 'does not point back');
    await expectAccepted('a');
  });

  it('[S5: two claims] by two metadata folders', async () => {
    copy(at('.git/worktrees/a'), at('.git/worktrees/a2'));
    await expectRefused('a', '"a2"');
    await expectAccepted('b');
  });

  it('[S5: metadata is a symlink]', async () => {
    renameSync(at('.git/worktrees/a'), at('.git/worktrees/real'));
    symlinkSync('real', at('.git/worktrees/a'));
    await expectRefused('a', 'symbolic link');
  });

  it('[S5: metadata is a symlink] or their registry is', async () => {
    renameSync(at('.git/worktrees'), at('registry'));
    symlinkSync('../registry', at('.git/worktrees'));
    await expectRefused('a', 'not a real directory', 'REGISTRATION_INVALID');
  });

  it('[S5: nested worktree] beneath another lane has no name that a call could send', async () => {
    repository.git('worktree', 'add', '--quiet', '-b', 'nested', '.worktrees/a/n');
    await expectRefused('a/n', 'worktree', 'MALFORMED_REQUEST');
    await expectRefused('n', 'does not exist');
  });

  it.each(['', '.', '..', '../a', '.git', '-x', 'a.lock', 'a\0', 'a b', `a${'x'.repeat(128)}`])(
    'no name of a worktree: %j',
    async (name) => {
      await expectRefused(name, 'worktree', 'MALFORMED_REQUEST');
    },
  );

  it.each(['index', 'logs/HEAD', 'ORIG_HEAD', 'COMMIT_EDITMSG', 'config.worktree'])(
    '[S5: symlinked metadata entry] %s',
    async (name) => {
      rmSync(at(`.git/worktrees/a/${name}`), { force: true });
      symlinkSync(at('file.txt'), at(`.git/worktrees/a/${name}`));
      await expectRefused('a', `"${name}" in ".git/worktrees/a" is a symbolic link`);
    },
  );

  it.each(['ref: refs/remotes/origin/x', 'ref: refs/heads/../../x', 'ref: /etc/passwd', 'abc', ''])(
    '[S5: HEAD neither branch nor hash] %j',
    async (head) => {
      writeFileSync(at('.git/worktrees/a/HEAD'), `${head}\n`);
      await expectRefused('a', 'HEAD');
    },
  );

  it('[S5: symlinked HEAD]', async () => {
    rmSync(at('.git/worktrees/a/HEAD'));
    symlinkSync('../../HEAD', at('.git/worktrees/a/HEAD'));
    await expectRefused('a', 'symbolic link');
  });

  it('[S5: foreign owner] of the folder or of the metadata', async () => {
    // Only root can give a folder away; for everybody else the place of one is taken by a link to root's own.
    const isRoot = process.geteuid?.() === 0;
    for (const place of ['.worktrees/a', '.git/worktrees/a']) {
      if (isRoot) chownSync(at(place), 12345, 12345);
      else {
        renameSync(at(place), at('taken'));
        symlinkSync('/usr', at(place));
      }
      await expectRefused('a', isRoot ? 'belongs to another user' : 'symbolic link');
      if (isRoot) chownSync(at(place), 0, 0);
      else {
        rmSync(at(place));
        renameSync(at('taken'), at(place));
      }
    }
  });

  it('[S5: other device or mount point]', async () => {
    const mounted = Repository.create('a', 'b');
    // In a mount namespace of the worker's own, so that no test needs to be root.
    const script = 'mount --bind "$0" "$0" && exec "$@"';
    const launcher = [
      'unshare',
      '--user',
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      script,
      mounted.path('', 'a'),
    ];
    const served = await Deployment.start(mounted, { launcher });
    try {
      for (const fields of everyCall) {
        const refusal = await served.caller().refused({ ...fields, worktree: 'a' });
        expect(refusal.code).toBe('INVALID_REQUEST');
        expect(refusal.error).toContain('is a mount point or lies on another device');
      }
      const sibling = { operation: 'read_file', path: 'file.txt', worktree: 'b' };
      expect(await served.caller().succeed(sibling)).toMatchObject({ content: 'one' });
    } finally {
      await served.stop();
      mounted.remove();
    }
  });

  it('[S5: submodule root] a root whose .git is a file is served as one lane', async () => {
    const refusal = await caller.refused({ operation: 'list_files', workspaceId: 'module', worktree: 'a' });
    expect(refusal.code).toBe('WORKER_MISMATCH');
    const run = await caller.run('pwd', undefined, { more: { workspaceId: 'module' } });
    expect(run.stdout).toBe(`${join(repository.folder, 'module')}\n`);
  });
});

describe('unusual worktrees that are sound are accepted', () => {
  it('[L25] and a command in one is seen among the processes that stand by', async () => {
    const children = await restingChildren();
    const afterCommand = () => caller.run('true', 'a').then(restingChildren);
    await expect.poll(afterCommand).not.toEqual(children);
  });

  it("[S5: metadata name is not the folder's] after a move, and where the name was taken", async () => {
    repository.git('worktree', 'move', '.worktrees/a', '.worktrees/renamed');
    await expectAccepted('renamed', 'a');
    repository.git('worktree', 'add', '--quiet', '-b', 'lane/second', '.worktrees/a');
    await expectAccepted('a', 'a1');
  });

  it('[S5: relative pointers]', async () => {
    writeFileSync(at('.worktrees/a/.git'), 'gitdir: ../../.git/worktrees/a\n');
    writeFileSync(at('.git/worktrees/a/gitdir'), '../../../.worktrees/a/.git\n');
    await expectAccepted('a');
  });

  it('[S5: bare main]', async () => {
    repository.git('config', 'core.bare', 'true');
    await expectAccepted('a');
  });

  it('[S5: config.worktree] where the extension is on, and the lane cannot write it', async () => {
    repository.git('config', 'extensions.worktreeConfig', 'true');
    repository.gitIn(at('.worktrees/a'), 'config', '--worktree', 'core.logAllRefUpdates', 'true');
    await expectAccepted('a');
    const before = readFileSync(at('.git/worktrees/a/config.worktree'), 'utf8');
    const write = await caller.run('/usr/bin/git config --worktree core.fsmonitor /bin/false', 'a');
    expect(write.exitCode).not.toBe(0);
    expect(readFileSync(at('.git/worktrees/a/config.worktree'), 'utf8')).toBe(before);
  });
});

describe('verification', () => {
  it('[L12] starts no Git process for any kind of call, refused or not', async () => {
    for (const lane of [{}, { worktree: 'a' }]) {
      for (const fields of everyCall) {
        const { status } = await caller.call({ ...fields, ...lane });
        expect([200, 409]).toContain(status);
        await caller.refused({ ...fields, worktree: 'none' });
      }
    }
    const started = programs.started();
    expect(started.some((line) => line.startsWith('rg'))).toBe(true);
    expect(started.filter((line) => line.startsWith('git'))).toEqual([]);
    // Whoever finds Git by the worker's search path would have been seen.
    execFileSync('git', ['--version'], { env: programs.environment });
    expect(programs.started()).toEqual([...started, 'git --version']);
  });

  it('[L13] [L11] happens again at every use: what was sound a moment ago is refused once it is not', async () => {
    await expectAccepted('a');
    const pointer = readFileSync(at('.worktrees/a/.git'));
    writeFileSync(at('.worktrees/a/.git'), `gitdir: ${at('.git/worktrees/b')}\n`);
    await expectRefused('a', 'does not point back');
    writeFileSync(at('.worktrees/a/.git'), pointer);
    expect((await caller.run('true', 'a')).exitCode).toBe(0);
  });

  it('[L11] holds the checkout to the identity with which the worker started', async () => {
    const { root, folder } = repository;
    renameSync(root, join(folder, 'kept'));
    copy(join(folder, 'kept'), root);
    const refusals = [];
    for (const lane of [{}, { worktree: 'a' }]) {
      for (const fields of everyCall) refusals.push((await caller.refused({ ...fields, ...lane })).code);
    }
    expect(new Set(refusals)).toEqual(new Set(['REGISTRATION_INVALID']));
    rmSync(root, { recursive: true });
    renameSync(join(folder, 'kept'), root);
    expect((await caller.run('true', 'a')).exitCode).toBe(0);
  });
});
