import { createServer, type Server } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
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

/** Runs the attacks one by one, each in a shell of its own; returns the names of those that ended with 0. */
async function through(attacks: Record<string, string>): Promise<string[]> {
  const script = Object.entries(attacks)
    .map(([name, attack]) => `(${attack}) >/dev/null 2>&1 && echo '${name}'`)
    .join('\n');
  const { stdout } = await fixture.inWorktree('a', `${script}\necho done`);
  expect(stdout).toMatch(/^done$/mu);
  return stdout.split('\n').filter((line) => line !== '' && line !== 'done');
}

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
      other.host('chown -R 12345 .');
      // The lane's own user must still be able to write: only the owner that Git checks is another.
      other.host('chmod -R a+rwX .');
      const run = await other.inWorktree(
        'a',
        'echo x > x && git add x && git commit -qm x && git config --get-all safe.directory',
      );
      expect(run.stdout).toBe(`${other.path('a')}\n`);
    } finally {
      other.remove();
    }
  });
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
    const got = await through({
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

  it('of the kernel and the mounts of the host [S4: 1-3]', async () => {
    const core = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    const got = await through({
      core_pattern: 'echo x > /proc/sys/kernel/core_pattern',
      'open core_pattern': ': >> /proc/sys/kernel/core_pattern',
      sysrq: ': >> /proc/sysrq-trigger',
      'remount proc': 'mount -o remount,rw /proc/sys',
      'remount root': 'mount -o remount,rw,bind /',
      'remount usr': 'mount -o remount,rw,bind /usr',
      umount: `umount ${fixture.git}/config`,
      'write usr': 'touch /usr/x',
      'write etc': 'touch /etc/x',
      'write sys': 'echo 1 > /sys/kernel/mm/ksm/run',
      'write top': 'touch /x',
      'write dev': 'touch /dev/x',
      unshare: 'unshare --user --mount true',
      'unshare net': 'unshare --net true',
      mknod: 'mknod disk b 254 0',
      chroot: 'chroot / true',
    });
    expect(got).toEqual([]);
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(core);
  });

  it('of sockets of the host: abstract, TCP, and in the file system [S4: 20-21]', async () => {
    const name = `codelanes-test-${process.pid}`;
    const inFiles = join(fixture.state, 'sock');
    const overTcp = await listening(0);
    const servers = [overTcp, await listening(`\0${name}`), await listening(inFiles)];
    const address = overTcp.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const connect = (target: string): string =>
        `node -e 'require("node:net").connect(${target}).on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`;
      const got = await through({
        abstract: connect(`{path:"\\0${name}"}`),
        file: connect(`{path:"${inFiles}"}`),
        tcp: connect(`{port:${port},host:"127.0.0.1"}`),
      });
      expect(got).toEqual([]);
    } finally {
      for (const server of servers) server.close();
    }
  });

  it('of a socket that stands on a read-only mount [S4: 20]', async () => {
    // Where Git's own file system monitor listens.
    const path = join(fixture.git, 'fsmonitor--daemon.ipc');
    const server = await listening(path);
    try {
      const got = await through({
        connect: `node -e 'require("node:net").connect("${path}").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`,
      });
      expect(got).toEqual([]);
    } finally {
      server.close();
    }
  });

  it("of the worker's environment and descriptors [S4: 22-23]", async () => {
    process.env['CODELANES_TEST_SECRET'] = 'do-not-tell';
    try {
      const run = await fixture.inWorktree(
        'a',
        `cat /proc/*/environ | tr '\\0' '\\n' | grep -c 'do-not-tel[l]'; env | grep -c SECRET
         for fd in /proc/self/fd/*; do readlink $fd; done; ls /proc/1/fd`,
      );
      expect(run.stdout).toMatch(/^0\n0\n/u);
      expect(run.stdout).not.toContain(fixture.folder);
      const targets = run.stdout.split('\n').filter((line) => /^(?:\/|socket|pipe)/u.test(line));
      expect(targets.filter((target) => !/^(?:\/dev\/null|socket:|\/proc\/|pipe:)/u.test(target))).toEqual(
        [],
      );
    } finally {
      delete process.env['CODELANES_TEST_SECRET'];
    }
  });

  it("of its siblings' processes [S4: 19]", async () => {
    const mark = `siblings-${process.pid}`;
    const sleeping = fixture.inWorktree('b', `exec -a ${mark} sleep 3`);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const run = await fixture.inWorktree(
      'a',
      `cat /proc/*/cmdline | tr '\\0' ' ' | grep -c '${mark.slice(0, 8)}[-]'; kill -9 ${process.pid}; ls -d /proc/${process.pid}`,
    );
    expect(run.stdout).toBe('0\n');
    expect((await sleeping).exitCode).toBe(0);
  });

  it('of more memory than its temporary folders have [S4: 24]', async () => {
    const run = await fixture.inWorktree(
      'a',
      'df -B1 --output=size /tmp /dev/shm /run /var/tmp | tail -n +2; touch /dev/x || echo sealed',
    );
    expect(
      run.stdout
        .split('\n')
        .filter((line) => /^ *[0-9]+$/u.test(line))
        .map(Number),
    ).toEqual([1024 ** 3, 256 * 1024 ** 2, 256 * 1024 ** 2, 256 * 1024 ** 2]);
    expect(run.stdout).toContain('sealed');
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

function listening(where: string | number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    const done = (): void => {
      resolve(server);
    };
    if (typeof where === 'number') server.listen(where, '127.0.0.1', done);
    else server.listen(where, done);
  });
}

describe('two lanes at once', () => {
  it('commit 100 times each in one long shell per lane, and nothing is lost [L26] [T11]', async () => {
    const busy = new LaneFixture();
    writeFileSync(join(busy.root, 'file'), 'one\n');
    try {
      const script = 'for i in $(seq 100); do echo $i > n && git add n && git commit -qm $i || exit 1; done';
      const runs = await Promise.all([busy.inWorktree('a', script), busy.inWorktree('b', script)]);
      expect(runs.map((run) => run.exitCode)).toEqual([0, 0]);
      expect(busy.host('git rev-list --count main..lane/a; git rev-list --count main..lane/b')).toBe(
        '100\n100\n',
      );
      expect(busy.host('git fsck --strict 2>&1; echo $?')).toMatch(/(?:^|\n)0\n$/u);
    } finally {
      busy.remove();
    }
  });
});
