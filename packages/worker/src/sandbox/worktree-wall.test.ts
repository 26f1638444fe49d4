import { readFileSync } from 'node:fs';
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

describe('a worktree lane is kept out', () => {
  const guarded = (): string[] => [
    fixture.digest(fixture.path('b')),
    fixture.digest(join(fixture.git, 'worktrees', 'b')),
    fixture.digest(join(fixture.git, 'hooks')),
    fixture.digest(join(fixture.git, 'info')),
    ...['config', 'HEAD', 'index'].map((name) => readFileSync(join(fixture.git, name), 'latin1')),
    readFileSync(join(fixture.root, 'file'), 'utf8'),
    readFileSync(join(fixture.path('a'), '.git'), 'utf8'),
    readFileSync(join(fixture.git, 'worktrees', 'a', 'commondir'), 'utf8'),
    readFileSync(join(fixture.git, 'worktrees', 'a', 'gitdir'), 'utf8'),
  ];

  it('of siblings, the checkout, shared settings and hooks, by whatever means [L15] [L24] [T07] [T08] [S4: 4] [S4: 6-9]', async () => {
    const before = guarded();
    const R = fixture.root;
    const g = fixture.git;
    const got = await fixture.breakThrough('a', {
      'write sibling': `echo x > ${R}/.worktrees/b/x`,
      'make sibling': `mkdir -p ${R}/.worktrees/b`,
      'write checkout': `echo x > ${R}/file`,
      'write config': `echo x >> ${g}/config`,
      'rename over config': `echo x > ${g}/objects/c && mv ${g}/objects/c ${g}/config`,
      'write hook': `echo x > ${g}/hooks/post-commit`,
      'rename hooks': `mv ${g}/hooks ${g}/objects/hooks`,
      'write HEAD': `echo x > ${g}/HEAD`,
      'write index': `echo x > ${g}/index`,
      'write info': `echo x > ${g}/info/attributes`,
      'plant commondir': `echo x > ${g}/commondir`,
      'plant alternates': `echo /etc > ${g}/objects/info/alternates`,
      'move objects/info': `mv ${g}/objects/info ${g}/objects/info2`,
      'write sibling metadata': `echo x > ${g}/worktrees/b/HEAD`,
      'rename .git': `mv ${g} ${g}2`,
      'rename objects': `mv ${g}/objects ${g}/objects2`,
      'rename refs to a link': `mv ${g}/refs ${g}/objects/refs && ln -s /etc ${g}/refs`,
      'write pointer': 'echo x > .git',
      'remove pointer': 'rm -f .git && [ ! -e .git ]',
      'rename over pointer': 'echo x > p && mv -f p .git',
      'move pointer': 'mv .git other',
      'write commondir': `echo x > ${g}/worktrees/a/commondir`,
      'rename over gitdir': `echo x > ${g}/worktrees/a/x && mv -f ${g}/worktrees/a/x ${g}/worktrees/a/gitdir`,
      'move metadata': `mv ${g}/worktrees/a ${g}/worktrees/c`,
      'write config.worktree': `echo x > ${g}/worktrees/a/config.worktree`,
      'rename over config.worktree': `echo x > ${g}/worktrees/a/y && mv -f ${g}/worktrees/a/y ${g}/worktrees/a/config.worktree`,
      'move the worktree': `cd / && mv ${R}/.worktrees/a ${R}/.worktrees/c`,
      'worktree to a link': `cd / && rm -rf ${R}/.worktrees/a; ln -sT /etc ${R}/.worktrees/a`,
      'link to sibling': `ln -s ../b s && echo x > s/x`,
      'hard link to config': `ln ${g}/config c && echo x >> c`,
      'hard link to HEAD': `ln ${g}/HEAD h`,
      'git -C sibling': 'cd / && /usr/bin/git -C ' + `${R}/.worktrees/b commit --allow-empty -m x`,
      'git -C root': `/usr/bin/git -C ${R} commit --allow-empty -m x`,
      'GIT_DIR root': `GIT_DIR=${g} /usr/bin/git commit --allow-empty -m x`,
      'GIT_DIR sibling': `GIT_DIR=${g}/worktrees/b /usr/bin/git commit --allow-empty -m x`,
      'git config': '/usr/bin/git config core.fsmonitor /bin/false',
      'git config --worktree': '/usr/bin/git config --worktree core.fsmonitor /bin/false',
    });
    expect(got).toEqual([]);
    fixture.host('git checkout -q -- .', fixture.path('a'));
    expect(guarded()).toEqual(before);
  });

  it("of sight of the checkout's files and modules, the home, the worker's state and siblings [L15]", async () => {
    const paths = [
      join(fixture.root, 'file'),
      join(fixture.root, 'node_modules'),
      join(fixture.folder, 'home', 'secret'),
      fixture.state,
      fixture.path('b'),
      '/root',
      '/home',
      '/etc/shadow.backup',
      '/var/log',
    ];
    const run = await fixture.inWorktree(
      'a',
      `for p in ${paths.join(' ')}; do [ -e $p ] && echo $p; done; [ -s /etc/shadow ] && echo shadow; true`,
    );
    expect(run.stdout).toBe('');
    const node = await fixture.inWorktree('a', `node -e 'require("leftpad")'`);
    expect(node.stderr).toContain("Cannot find module 'leftpad'");
  });

  it('from a place that was exchanged for a link after verification [S5: TOCTOU]', async () => {
    const swapped = new LaneFixture(['a', 'b']);
    const lane = swapped.openWorktree('a');
    try {
      swapped.host('mv .worktrees/a .worktrees/kept && ln -s b .worktrees/a');
      const run = await swapped.run(lane, 'touch here').catch(() => undefined);
      expect(run?.exitCode ?? 0).toBe(0);
      expect(swapped.host('ls .worktrees/b')).toBe('file\n');
      // With a folder in its place it is the verified one that is mounted.
      swapped.host('rm -f .worktrees/a && mkdir .worktrees/a');
      expect((await swapped.run(lane, 'touch verified')).exitCode).toBe(0);
      expect(swapped.host('ls .worktrees/a .worktrees/kept')).toContain('verified');
      expect(swapped.host('ls .worktrees/a')).toBe('');
    } finally {
      lane.close();
      swapped.remove();
    }
  });

  it('when part of the shared storage is a link [T09]', async () => {
    const linked = new LaneFixture(['a']);
    try {
      linked.host('mv .git/logs/refs .git/elsewhere && ln -s /etc .git/logs/refs');
      await expect(linked.inWorktree('a', 'true')).rejects.toThrow('symbolic link');
    } finally {
      linked.remove();
    }
  });

  it('leaves nothing but the layout of Git behind [T18]', async () => {
    const clean = new LaneFixture(['a']);
    try {
      const before = clean.host(
        'git status --porcelain --ignored && find . -path ./.git/objects -prune -o -print | sort',
      );
      await clean.inWorktree('a', 'true');
      const after = clean.host(
        'git status --porcelain --ignored && find . -path ./.git/objects -prune -o -print | sort',
      );
      expect(after.replace('./.git/worktrees/a/config.worktree\n', '')).toBe(before);
    } finally {
      clean.remove();
    }
  });
});
