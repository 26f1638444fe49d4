import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import type { CommandOutcome } from '../commands/execute-command.js';
import { auditCheckout, type AuditResult } from './audit/audit.js';
import { snapshotSchema, takeSnapshot, type Snapshot } from './audit/snapshot.js';

let fixture: LaneFixture;
beforeEach(() => {
  fixture = new LaneFixture(['a']);
});
afterEach(() => {
  fixture.remove();
});

function snapshot(): Snapshot {
  const lane = fixture.openCheckout();
  try {
    return takeSnapshot(lane);
  } finally {
    lane.close();
  }
}

/** Runs a command at the checkout as the worker does: snapshot, through JSON as after a crash, run, audit. */
async function audited(command: string): Promise<{ run: CommandOutcome; audit: AuditResult }> {
  const written = JSON.stringify(snapshot());
  const run = await fixture.atCheckout(command);
  return { run, audit: auditCheckout(snapshotSchema.parse(JSON.parse(written))) };
}

describe('the checkout lane', () => {
  it('works as an ordinary checkout does', async () => {
    fixture.host(
      'git init -q --bare ../remote.git && git remote add origin ../remote.git && mv ../remote.git remote.git && git config remote.origin.url ./remote.git',
    );
    const { run, audit } = await audited(
      `set -e
       echo two > two; git add two; git commit -qm two; git branch topic; git tag v1
       echo dirty >> file; git stash -q; git stash pop -q; git checkout -q -- file
       git checkout -q topic; echo t > t; git add t; git commit -qm t; git checkout -q main
       echo m > m; git add m; git commit -qm m; git rebase -q main topic; git checkout -q main; git merge -q topic
       git push -q origin main; git branch -q -d topic; git gc -q; git prune; git pack-refs --all; git repack -adq
       git log --format=%s`,
    );
    expect(run.stderr).not.toContain('codelanes:');
    expect(run).toMatchObject({ exitCode: 0, stdout: 't\nm\ntwo\none\n' });
    expect(audit).toEqual({ notices: [], strayGitlinks: [] });
    expect(fixture.host('git -C remote.git log -1 --format=%s main')).toBe('t\n');
  });

  it('adds, removes and adds again a worktree, which is then usable as a lane [L17]', async () => {
    const { run, audit } = await audited(
      `set -e
       git worktree add -q -b lane/n .worktrees/n; git worktree remove .worktrees/n; git branch -q -D lane/n
       git worktree add -q -b lane/n .worktrees/n; git worktree add -q --detach elsewhere
       git worktree remove .worktrees/a; git worktree move elsewhere .worktrees/moved; git worktree list | wc -l`,
    );
    expect(run).toMatchObject({ exitCode: 0, stdout: '3\n' });
    expect(audit).toEqual({ notices: [], strayGitlinks: [] });
    const lane = await fixture.inWorktree(
      'n',
      'echo x > x && git add x && git commit -qm x && git log -1 --format=%s',
    );
    expect(lane.stdout).toBe('x\n');
  });

  it('refuses to change shared settings, with a sentence, and reads them', async () => {
    const before = readFileSync(join(fixture.git, 'config'), 'utf8');
    for (const command of [
      'git config x.y z',
      'git remote add o https://example.invalid/x',
      'git branch -m main trunk',
    ]) {
      const run = await fixture.atCheckout(command);
      expect(run.exitCode).toBe(1);
      expect(run.stderr).toContain('refused until sealed storage');
    }
    expect((await fixture.atCheckout('git config core.bare')).stdout).toBe('false\n');
    expect((await fixture.atCheckout('git branch --show-current')).stdout).toBe('main\n');
    expect(readFileSync(join(fixture.git, 'config'), 'utf8')).toBe(before);
  });

  it('holds hooks, settings and the place of .git against writing, renaming and copying', async () => {
    const attacks = [
      'echo x > .git/hooks/post-commit',
      'mv .git/hooks .git/h2',
      'rm -rf .git/hooks && mkdir .git/hooks && echo x > .git/hooks/post-commit',
      'echo x >> .git/config',
      'echo x > c && mv -f c .git/config',
      '/usr/bin/git config core.fsmonitor /bin/false',
      'mv .git .git2 && cp -r .git2 .git',
      'umount .git/hooks',
      'mount -o remount,rw,bind .git/hooks',
    ];
    const { run, audit } = await audited(
      attacks.map((attack, index) => `(${attack}) >/dev/null 2>&1 && echo ${index}`).join('\n') + '\ntrue',
    );
    expect(run.stdout).toBe('');
    expect(audit).toEqual({ notices: [], strayGitlinks: [] });
    expect(fixture.host('git log --format=%s')).toBe('one\n');
  });
});
