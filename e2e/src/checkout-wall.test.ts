import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { successesOf } from './rig/attacks.js';
import type { Caller } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';
import { digestOf } from './rig/tree-digest.js';

let repository: Repository;
let deployment: Deployment;
let caller: Caller;
/** What the code of an agent leaves behind when the operator's Git is made to run it. */
let ran: string;

const at = (relative: string): string => repository.path(relative);

beforeAll(async () => {
  repository = Repository.create('a');
  ran = join(repository.folder, 'ran');
  writeFileSync(at('.git/info/attributes'), '* text=auto\n');
  writeFileSync(at('.gitignore'), '.worktrees/\nremote.git/\nevil/\n');
  repository.git('init', '--quiet', '--bare', 'remote.git');
  repository.git('config', 'remote.origin.url', './remote.git');
  repository.git('config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*');
  deployment = await Deployment.start(repository);
  caller = deployment.caller();
  await caller.run('true', 'a');
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

/** Git as an operator uses it at the root, after a call. */
function useGit(): void {
  for (const command of [
    ['status'],
    ['worktree', 'list'],
    ['log', '--all'],
    ['diff'],
    ['submodule', 'status'],
    ['branch', '--list'],
    ['stash', 'list'],
    ['gc', '--quiet'],
  ]) {
    repository.git(...command);
  }
}

describe('ordinary work at the checkout', () => {
  it('commits, stashes, rebases, merges, tags, packs and pushes', async () => {
    const run = await caller.run(
      `set -e
       git add .gitignore; git commit -qm ignore
       echo two > two; git add two; git commit -qm two; git branch topic; git tag v1
       echo dirty >> file.txt; git stash -q; git stash pop -q; git checkout -q -- file.txt
       git checkout -q topic; echo t > t; git add t; git commit -qm topic; git checkout -q main
       echo m > m; git add m; git commit -qm main; git rebase -q main topic; git checkout -q main; git merge -q topic
       git push -q origin main; git fetch -q; git gc -q; git prune; git pack-refs --all; git repack -adq
       git status --short; git log --format=%s`,
    );
    expect(run).toMatchObject({ exitCode: 0, stdout: 'topic\nmain\ntwo\nignore\nBegin\n' });
    expect(run.stderr).not.toContain('codelanes:');
    expect(repository.gitIn(at('remote.git'), 'log', '-1', '--format=%s', 'main')).toBe('topic\n');
    repository.git('fsck', '--strict', '--no-dangling');
  });

  it('runs the hooks that the operator has set up', async () => {
    writeFileSync(at('.git/hooks/pre-commit'), '#!/bin/sh\necho hooked > hooked\n', { mode: 0o755 });
    expect((await caller.run('git commit -q --allow-empty -m hooked')).exitCode).toBe(0);
    expect(readFileSync(at('hooked'), 'utf8')).toBe('hooked\n');
    execFileSync('rm', [at('.git/hooks/pre-commit'), at('hooked')]);
  });

  it('[L17] reads shared settings, and refuses with a sentence to change them', async () => {
    const before = readFileSync(at('.git/config'), 'utf8');
    for (const command of [
      'git config x.y z',
      'git config --local core.fsmonitor /bin/false',
      'git remote add other https://example.invalid/x',
      'git remote set-url origin /tmp',
      'git branch -m topic trunk',
      'git branch --set-upstream-to=origin/main',
      'git sparse-checkout set x',
    ]) {
      const run = await caller.run(command);
      expect(run.exitCode).toBe(1);
      expect(run.stderr).toMatch(/^codelanes: .* shared configuration, which is refused .*\.$/mu);
    }
    const read = await caller.run(
      'git config remote.origin.url; git config --get user.name; git branch --show-current; git remote -v',
    );
    expect(read.exitCode).toBe(0);
    expect(read.stdout).toMatch(/^\.\/remote\.git\nTester\nmain\norigin\t/u);
    expect(repository.git('branch', '--list', 'topic')).toContain('topic');
    expect(readFileSync(at('.git/config'), 'utf8')).toBe(before);
  });
});

describe('the wall of the checkout', () => {
  it('[T07] [T09] holds hooks, settings and the place of .git against writing, renaming, copying and unmounting', async () => {
    const before = digestOf(at('.git'));
    const through = await successesOf(caller, undefined, {
      'write a hook': 'echo x > .git/hooks/post-commit',
      'link a hook': 'ln -s /bin/sh .git/hooks/post-commit',
      'rename hooks': 'mv .git/hooks .git/h2',
      'replace hooks': 'rm -rf .git/hooks && mkdir .git/hooks && echo x > .git/hooks/post-commit',
      'write config': 'echo x >> .git/config',
      'rename over config': 'echo x > c; mv -f c .git/config',
      'remove config': 'rm -f .git/config',
      'link to config': 'ln .git/config c && echo x >> c',
      'by git': '/usr/bin/git config core.fsmonitor /bin/false',
      'rename .git': 'mv .git .git2',
      'rename and copy .git': 'mv .git .git2 && cp -r .git2 .git',
      'remove .git': 'rmdir .git',
      'move the checkout': `cd / && mv ${repository.root} ${repository.root}2`,
      'unmount hooks': 'umount .git/hooks',
      'remount hooks': 'mount -o remount,rw,bind .git/hooks',
    });
    expect(through).toEqual([]);
    await caller.run('rm -f c');
    expect(digestOf(at('.git'))).toEqual(before);
  });

  it('sees nothing beside the checkout: no home, no state of the worker, no other folder', async () => {
    const run = await caller.run(
      `for p in ${deployment.stateDir} ${deployment.home} ${repository.folder}/x /root /home; do [ -e $p ] && echo $p; done; ls -A ${repository.folder}`,
    );
    expect(run.stdout).toBe('repo\n');
    // What stands there is an empty folder of the sandbox's own.
    await caller.run(`touch ${repository.folder}/x`);
    expect(existsSync(join(repository.folder, 'x'))).toBe(false);
  });
});

describe('the audit after a call at the checkout', () => {
  const settings = (): string =>
    `[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "touch ${ran}; false"\\n\\thooksPath = ${repository.root}/evil\\n`;
  const hook = (): string => `printf '#!/bin/sh\\ntouch ${ran}\\n'`;

  const plants: Readonly<Record<string, () => string>> = {
    '.git/commondir': () =>
      `mkdir -p evil/objects evil/refs; cp .git/HEAD evil/; printf '${settings()}' > evil/config; printf '../evil' > .git/commondir`,
    '.git/config.worktree': () => `printf '${settings()}' > .git/config.worktree`,
    '.git/info/attributes': () => `echo '* filter=x' > .git/info/attributes`,
    '.git/objects/info/alternates': () => 'mkdir -p evil/o; echo $PWD/evil/o > .git/objects/info/alternates',
    '.git/worktrees/a/config.worktree': () => `printf '${settings()}' > .git/worktrees/a/config.worktree`,
    '.git/worktrees/a/commondir': () =>
      `mkdir -p evil; printf '${settings()}' > evil/config; echo ../../../evil > .git/worktrees/a/commondir`,
    '.git/worktrees/a/gitdir': () => 'echo "$PWD/file.txt" > .git/worktrees/a/gitdir',
    '.worktrees/a/.git': () => 'mkdir -p evil; echo "gitdir: $PWD/evil" > .worktrees/a/.git',
    '.worktrees/z/.git': () => 'mkdir -p .worktrees/z; echo "gitdir: /etc" > .worktrees/z/.git',
    '.git/worktrees/z/commondir': () =>
      'mkdir -p .git/worktrees/z; echo ../../../evil > .git/worktrees/z/commondir',
    '.git/modules/m/config': () => `mkdir -p .git/modules/m; printf '${settings()}' > .git/modules/m/config`,
    '.git/modules/m/hooks/post-checkout': () =>
      `mkdir -p .git/modules/m/hooks; ${hook()} > .git/modules/m/hooks/post-checkout; chmod +x .git/modules/m/hooks/*`,
    '.git/COMMIT_EDITMSG': () => 'ln -sf ../file.txt .git/COMMIT_EDITMSG',
    '.git/logs/HEAD': () => 'ln -sf ../../file.txt .git/logs/HEAD',
  };

  it.each(Object.keys(plants))(
    '[T07] [T08] undoes and says a change of %s, before the operator uses Git',
    async (place) => {
      const content = (): string | undefined =>
        existsSync(at(place)) ? readFileSync(at(place), 'utf8') : undefined;
      const before = place === '.git/COMMIT_EDITMSG' || place === '.git/logs/HEAD' ? undefined : content();
      const victim = readFileSync(at('file.txt'), 'utf8');
      const run = await caller.run(`${plants[place]?.() ?? 'false'}; echo out; echo err >&2`);
      expect(run).toMatchObject({ exitCode: 0, stdout: 'out\n' });
      const lines = run.stderr.trimEnd().split('\n');
      expect(lines[0]).toBe('err');
      expect(lines.slice(1).join('\n')).toContain(`"${place}"`);
      expect(
        lines
          .slice(1)
          .filter(
            (line) =>
              !/^codelanes: ".*" was (?:made|changed) by the command and has been (?:removed|put back)/u.test(
                line,
              ),
          ),
      ).toEqual([]);
      expect(content()).toBe(before);
      useGit();
      expect(existsSync(ran)).toBe(false);
      expect(readFileSync(at('file.txt'), 'utf8')).toBe(victim);
      expect(await caller.run('git status --short >/dev/null && git log -1 >/dev/null', 'a')).toMatchObject({
        exitCode: 0,
      });
    },
  );

  it('says it also of a command that failed, and of one that ran out of time', async () => {
    const failed = await caller.run('echo ../evil > .git/commondir; exit 3');
    expect(failed.exitCode).toBe(3);
    expect(failed.stderr).toContain('".git/commondir" was made by the command and has been removed');
    const late = await caller.run('echo ../evil > .git/commondir; sleep 100', undefined, {
      more: { timeoutMs: 6_000 },
    });
    expect(late).toMatchObject({ timedOut: true, exitCode: null });
    expect(late.stderr).toContain('".git/commondir" was made by the command and has been removed');
    expect(existsSync(at('.git/commondir'))).toBe(false);
  });

  it('keeps its words within the bound of the output', async () => {
    const run = await caller.run('echo ../evil > .git/commondir; yes | head -c 100000 >&2', undefined, {
      more: { maxOutputBytes: 2000 },
    });
    expect(run.truncated).toBe(true);
    expect(Buffer.byteLength(run.stdout) + Buffer.byteLength(run.stderr)).toBeLessThanOrEqual(2000);
    expect(run.stderr.trimEnd().split('\n').at(-1)).toContain('".git/commondir"');
  });

  it('says nothing of what Git itself does with worktrees', async () => {
    const run = await caller.run(
      `git worktree add -q -b lane/w .worktrees/w && git worktree move .worktrees/w .worktrees/v && git worktree lock .worktrees/v
       git worktree unlock .worktrees/v && git worktree remove .worktrees/v && git worktree prune`,
    );
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('[S4: 13] lets no repository in the tree make the Git of the operator run its settings', async () => {
    const plant = await caller.run(
      `git init -q nested && cd nested && git commit -q --allow-empty -m x && printf '${settings()}' >> .git/config && cd .. && git add nested; true`,
    );
    expect(plant.exitCode).toBe(0);
    expect(plant.stderr.trimEnd().split('\n').at(-1)).toMatch(/^codelanes: .*nested/u);
    useGit();
    expect(existsSync(ran)).toBe(false);
    expect(repository.git('ls-files', '--stage')).not.toMatch(/^160000/mu);
    await caller.run('rm -rf nested');
  });

  it('closes the checkout and its lanes when something cannot be undone, until the operator has looked', async () => {
    const broken = Repository.create('a');
    const served = await Deployment.start(broken);
    try {
      const run = await served
        .caller()
        .run('mkdir i; mv .git/info/* i; rmdir .git/info; ln -s ../i .git/info');
      expect(run.stderr).toMatch(/"\.git\/info" was changed by the command and cannot be put back\./u);
      for (const lane of [{}, { worktree: 'a' }]) {
        const refusal = await served
          .caller()
          .refused({ operation: 'execute_command', command: 'touch ran', ...lane });
        expect(refusal).toMatchObject({ status: 409, code: 'WORKSPACE_QUARANTINED' });
        expect(refusal.error).toContain('.git/info');
      }
      expect(existsSync(broken.path('ran')) || existsSync(broken.path('ran', 'a'))).toBe(false);
    } finally {
      await served.stop();
      broken.remove();
    }
  });

  it('follows no link of the command when it puts things back', async () => {
    const outside = join(repository.folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'attributes'), 'of the operator\n');
    symlinkSync(outside, at('evil-link'));
    await caller.run('rm .git/info/attributes; ln -s ../../evil-link/attributes .git/info/attributes');
    expect(readFileSync(join(outside, 'attributes'), 'utf8')).toBe('of the operator\n');
    expect(readFileSync(at('.git/info/attributes'), 'utf8')).toBe('* text=auto\n');
  });
});
