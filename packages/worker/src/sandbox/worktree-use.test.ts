import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';

let fixture: LaneFixture;
beforeAll(() => {
  fixture = new LaneFixture();
});
afterAll(() => {
  fixture.remove();
});

describe('a worktree lane is let in', () => {
  it('edits, commits, rebases and stashes in its own worktree [T01] [T02]', async () => {
    const run = await fixture.inWorktree(
      'a',
      `set -e
       echo mine > mine; git add mine; git commit -qm mine; git commit -q --amend -m better
       git checkout -q -b topic; echo two > two; git add two; git commit -qm two; git rebase -q lane/a
       echo dirty >> two; git stash -q; git stash pop -q; git checkout -q -- two; git checkout -q lane/a
       git merge -q topic; git tag v1; git log --format=%s; git status --short`,
    );
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toBe('two\nbetter\none\n');
    expect(fixture.host('git log -1 --format=%s lane/a')).toBe('two\n');
    expect(fixture.host('git log -1 --format=%an lane/a')).toBe('Codelanes agent\n');
    expect(fixture.host('git fsck --strict 2>&1')).not.toContain('error');
  });

  it('finishes a cherry-pick without leaving its mark behind', async () => {
    const run = await fixture.inWorktree(
      'a',
      `set -e
       git checkout -q -b side; echo s > s; git add s; git commit -qm side; git checkout -q -b other HEAD~1
       git cherry-pick side >/dev/null 2>&1; git status; git checkout -q lane/a`,
    );
    expect(run.exitCode).toBe(0);
    expect(run.stdout).not.toContain('cherry-pick');
  });

  it('keeps its home from call to call', async () => {
    await fixture.inWorktree('a', 'echo kept > ~/note');
    expect((await fixture.inWorktree('a', 'cat ~/note')).stdout).toBe('kept\n');
    expect((await fixture.inWorktree('b', 'cat ~/note')).exitCode).not.toBe(0);
  });

  it('may not check out the branch of a sibling', async () => {
    const run = await fixture.inWorktree('a', 'git checkout lane/b');
    expect(run.exitCode).toBe(128);
    expect(run.stderr).toContain('already checked out');
  });

  it('commits in a repository of another owner, whose safe.directory is named exactly [T14]', async () => {
    const other = new LaneFixture(['a']);
    try {
      // Only root could give the files another owner; Git's own tests have it take everything for somebody else's.
      const foreign = 'export GIT_TEST_ASSUME_DIFFERENT_OWNER=1';
      const run = await other.inWorktree(
        'a',
        `${foreign}; echo x > x && git add x && git commit -qm x && git config --get-all safe.directory`,
      );
      expect(run.stdout).toBe(`${other.path('a')}\n`);
      const unnamed = await other.inWorktree('a', `${foreign}; GIT_CONFIG_COUNT=0 git status`);
      expect(unnamed.stderr).toContain('dubious ownership');
    } finally {
      other.remove();
    }
  });
});

describe('two lanes at once', () => {
  it('commit 100 times each in one long shell per lane, and nothing is lost [L26]', async () => {
    const busy = new LaneFixture();
    try {
      const script = 'for i in $(seq 100); do echo $i > n && git add n && git commit -qm $i || exit 1; done';
      const runs = await Promise.all(
        ['a', 'b'].map((name) => busy.inWorktree(name, script, { timeoutMs: 280_000 })),
      );
      expect(runs.map((run) => run.exitCode)).toEqual([0, 0]);
      expect(busy.host('git rev-list --count main..lane/a; git rev-list --count main..lane/b')).toBe(
        '100\n100\n',
      );
      expect(busy.host('git fsck --strict 2>&1; echo $?')).toMatch(/(?:^|\n)0\n$/u);
    } finally {
      busy.remove();
    }
  }, 300_000);

  it('may listen on the same port, each for itself [T42]', async () => {
    const busy = new LaneFixture();
    const listen = `node -e '
      const fs = require("node:fs");
      require("node:net").createServer().listen(3000, () => {
        fs.writeFileSync("listens", "");
        setInterval(() => fs.existsSync("over") && process.exit(), 20);
      })'`;
    const paths = ['a', 'b'].map((name) => busy.path(name));
    try {
      const runs = Promise.all([busy.inWorktree('a', listen), busy.inWorktree('b', listen)]);
      await expect.poll(() => paths.every((path) => existsSync(join(path, 'listens')))).toBe(true);
      for (const path of paths) busy.host('touch over', path);
      expect((await runs).map((run) => run.exitCode)).toEqual([0, 0]);
    } finally {
      busy.remove();
    }
  });
});
