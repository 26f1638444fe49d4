import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';
import { digestOf } from './rig/tree-digest.js';

let repository: Repository;
let deployment: Deployment;
let caller: Caller;

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  // The lanes are to commit without any identity of the repository or of whoever runs these tests.
  repository.git('config', '--unset', 'user.name');
  repository.git('config', '--unset', 'user.email');
  repository.git('branch', 'packed');
  repository.git('branch', 'other');
  repository.git('pack-refs', '--all');
  deployment = await Deployment.start(repository, {
    environment: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
  });
  caller = deployment.caller();
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

/** Of each command in the lane of `a`, its exit status and what it said. */
async function answersOf(commands: readonly string[]): Promise<string[]> {
  const answers: string[] = [];
  for (const command of commands) {
    const { exitCode, stdout, stderr } = await caller.run(command, 'a');
    answers.push(`${String(exitCode)} ${stdout}${stderr}`.trimEnd());
  }
  return answers;
}

describe('two worktrees at once', () => {
  it('[L26] [T22] commit 100 times each, and nothing is lost', async () => {
    const script =
      'for i in $(seq 100); do echo $i > n && git add n && git commit -qm "n $i" || exit 1; done';
    const more = { timeoutMs: 290_000 };
    const runs = await Promise.all(['a', 'b'].map((lane) => caller.run(script, lane, { more })));
    expect(runs.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual([
      { exitCode: 0, stderr: '' },
      { exitCode: 0, stderr: '' },
    ]);
    for (const lane of ['a', 'b']) {
      expect(repository.git('rev-list', '--count', `main..lane/${lane}`)).toBe('100\n');
      expect(repository.git('log', '-1', '--format=%s', `lane/${lane}`)).toBe('n 100\n');
    }
    repository.git('fsck', '--strict', '--no-dangling');
  }, 300_000);

  it('[L26] commit through calls of their own, each the next after the last', async () => {
    const commits = async (lane: string): Promise<void> => {
      for (const number of [1, 2, 3, 4, 5]) {
        const run = await caller.run(`echo ${number} > call && git add call && git commit -qm call`, lane);
        expect(run).toMatchObject({ exitCode: 0, stderr: '' });
      }
    };
    const count = (lane: string): number => Number(repository.git('rev-list', '--count', `lane/${lane}`));
    const before = [count('a'), count('b')];
    await Promise.all([commits('a'), commits('b')]);
    expect([count('a'), count('b')]).toEqual(before.map((number) => number + 5));
    repository.git('fsck', '--strict', '--no-dangling');
  });
});

describe('Git in a worktree lane', () => {
  it('commits with an identity where none is set', async () => {
    await caller.run('git commit --quiet --allow-empty --message=x', 'a');
    expect(repository.git('log', '-1', '--format=%an <%ae>', 'lane/a')).toBe(
      'Codelanes agent <agent@codelanes.invalid>\n',
    );
  });

  it('[L16] has housekeeping off and exactly the lane as a safe directory, by environment', async () => {
    const run = await caller.run(
      `git config --get gc.auto; git config --get maintenance.auto; git config --get-all safe.directory
       git config --show-scope --get gc.auto`,
      'a',
    );
    expect(run.stdout.split('\n')).toEqual([
      '0',
      'false',
      repository.path('', 'a'),
      expect.stringMatching(/^command\t0$/u),
      '',
    ]);
  });

  it('does every ordinary thing: branch, amend, rebase, merge, cherry-pick, revert, stash, tag, notes, bisect', async () => {
    const run = await caller.run(
      `set -e
       git checkout -q -b lane/work; echo 1 > w; git add w; git commit -qm one; git commit -q --amend -m better
       git checkout -q -b topic HEAD~1; echo t > t; git add t; git commit -qm topic; git rebase -q lane/work
       git checkout -q lane/work; git merge -q --no-ff --no-edit topic; git revert --no-edit topic >/dev/null
       git status; echo dirty >> w; git stash -q; git stash pop -q; git checkout -q -- w
       git tag here; git notes add -m note; git log --oneline | head -3 >/dev/null; git reset -q --hard here; git clean -fdq
       git submodule status; git grep -q 1 w; git blame w >/dev/null; git reflog >/dev/null; git worktree list | wc -l`,
      'b',
    );
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stdout).toMatch(/\n3\n$/u);
    expect(run.stdout).toContain('nothing to commit, working tree clean');
    expect(repository.git('tag')).toContain('here');
    repository.git('fsck', '--strict', '--no-dangling');
    await caller.run('git checkout -q lane/b', 'b');
  });

  it('[T26] does not check out the branch of a sibling', async () => {
    const run = await caller.run('git checkout lane/b', 'a');
    expect(run.exitCode).toBe(128);
    expect(run.stderr).toContain(`already checked out at '${repository.path('', 'b')}'`);
  });

  const rootOperations = [
    'git worktree prune',
    'git worktree add ../c',
    'git worktree add --detach inner',
    'git worktree remove ../b',
    'git worktree remove --force ../b',
    'git worktree move ../b ../c',
    'git worktree lock ../b',
    'git worktree repair',
    'git gc',
    'git gc --prune=now',
    'git gc --auto',
    'git prune',
    'git prune --expire=now',
    'git repack -ad',
    'git prune-packed',
    'git pack-refs --all',
    'git maintenance run',
    'git reflog expire --expire=now --all',
    'git fetch --prune',
    'git fetch --depth=1',
    'git -C . worktree prune',
    'git --no-pager gc',
  ];

  it('[L17] [L26] [T12] [T22] answers root operations with non-zero and that they are operations of the checkout', async () => {
    const before = digestOf(repository.root);
    const answers = await answersOf(rootOperations);
    const sentence = /^[1-9][0-9]* codelanes: .* is an operation of the checkout: .*\.$/u;
    expect(answers.filter((answer) => !sentence.test(answer))).toEqual([]);
    expect(answers).toHaveLength(rootOperations.length);
    expect(digestOf(repository.root)).toEqual(before);
  });

  const settings = [
    'git config user.name x',
    'git config --local core.fsmonitor /bin/false',
    'git config --unset core.bare',
    'git remote add origin https://example.invalid/x',
    'git remote set-url origin /tmp',
    'git branch -m lane/a lane/z',
    'git branch --set-upstream-to=main',
    'git sparse-checkout set sub',
    'git submodule add ./x',
  ];

  it('[L17] answers changes of shared settings with non-zero and that they are operations of the checkout', async () => {
    const before = digestOf(repository.root);
    const answers = await answersOf(settings);
    const sentence =
      /^[1-9][0-9]* codelanes: .* shared configuration, which is an operation of the checkout.*\.$/u;
    expect(answers.filter((answer) => !sentence.test(answer))).toEqual([]);
    expect(answers).toHaveLength(settings.length);
    expect(digestOf(repository.root)).toEqual(before);
  });

  it('[T10] says that deleting a branch is an operation of the checkout, and still commits on a packed one', async () => {
    for (const command of [
      'git branch -D other',
      'git branch -d other',
      'git branch --delete --force other',
    ]) {
      const run = await caller.run(command, 'a');
      expect(run.exitCode).not.toBe(0);
      expect(run.stderr).toContain('is an operation of the checkout');
    }
    expect(repository.git('branch', '--list', 'other')).toContain('other');
    const commit = await caller.run(
      'git checkout -q packed && git commit -q --allow-empty -m onto && git checkout -q lane/a',
      'a',
    );
    expect(commit).toMatchObject({ exitCode: 0, stderr: '' });
    expect(repository.git('log', '-1', '--format=%s', 'packed')).toBe('onto\n');
  });

  it('[T11] [T12] drops no object and no registration of a sibling where the agent goes round the refusal', async () => {
    const orphan = (await caller.run('echo rare > r && git hash-object -w r', 'b')).stdout.trim();
    const script = `/usr/bin/git prune --expire=now; /usr/bin/git gc --prune=now; /usr/bin/git worktree prune --expire=now
       /usr/bin/git repack -adq; /usr/bin/git prune-packed; true`;
    await caller.run(script, 'a');
    expect(repository.git('cat-file', '-p', orphan)).toBe('rare\n');
    expect(repository.git('worktree', 'list')).toContain('.worktrees/b');
    repository.git('fsck', '--strict', '--no-dangling');
  });
});

describe('a repository of another owner', () => {
  it('[T14] [L16] is no dubious one in its lanes', async () => {
    const foreign = Repository.create('a');
    // Only root can give files away; for everybody else Git is told that the owner is another one.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) foreign.giveTo(12345);
    const served = await Deployment.start(foreign);
    try {
      const assumed = isRoot ? '' : 'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 ';
      const run = await served
        .caller()
        .run(
          `export ${assumed}X=1; git status --short && echo x > x && git add x && git commit -qm x && git log -1 --format=%s`,
          'a',
        );
      expect(run).toMatchObject({ exitCode: 0, stdout: 'x\n', stderr: '' });
    } finally {
      await served.stop();
      foreign.remove();
    }
  });
});

describe('the checkout', () => {
  it('[L17] adds, removes and adds again a worktree of the same name, and the new lane is usable at once', async () => {
    const add = await caller.run('git worktree add -q -b lane/n .worktrees/n');
    expect(add).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await caller.run('echo first > f && git add f && git commit -qm first', 'n')).exitCode).toBe(0);
    const remove = await caller.run('git worktree remove .worktrees/n && git branch -q -D lane/n');
    expect(remove).toMatchObject({ exitCode: 0 });
    expect((await caller.refused({ operation: 'list_files', worktree: 'n' })).error).toContain(
      'git worktree add',
    );
    const again = await caller.run('git worktree add -q -b lane/n .worktrees/n && git worktree list | wc -l');
    expect(again).toMatchObject({ exitCode: 0, stdout: '4\n', stderr: '' });
    const use = await caller.run(
      'ls; echo x > x && git add x && git commit -qm again && git log -1 --format=%s',
      'n',
    );
    expect(use.stdout).toBe('file.txt\nagain\n');
    const file = await caller.succeed({ operation: 'read_file', path: 'x', worktree: 'n' });
    expect(file).toMatchObject({ content: 'x' });
    const gone = await caller.run(
      'git worktree remove --force .worktrees/n && git worktree prune && git branch -q -D lane/n',
    );
    expect(gone).toMatchObject({ exitCode: 0 });
  });

  it('[L17] does the operations that lanes may not: gc, prune, repack, deletion of branches', async () => {
    const config = readFileSync(repository.path('.git/config'), 'utf8');
    writeFileSync(repository.path('unsaved'), 'x');
    const run = await caller.run(
      'git gc -q && git prune && git repack -adq && git pack-refs --all && git branch -q -D other',
    );
    expect(run.exitCode).toBe(0);
    expect(run.stderr).not.toContain('codelanes:');
    expect(repository.git('branch', '--list', 'other')).toBe('');
    expect(readFileSync(repository.path('.git/config'), 'utf8')).toBe(config);
    repository.git('fsck', '--strict', '--no-dangling');
    expect((await caller.run('git commit -q --allow-empty -m after', 'a')).exitCode).toBe(0);
  });
});
