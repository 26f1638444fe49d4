import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gitEnvironment, type GitLane } from './environment.js';
import { defaultIdentity, globalConfigText, readGlobalSettings } from './global-config.js';
import { writeGitShim } from './shim.js';

let folder: string;
let root: string;
let worktree: string;
let config: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-shim-')));
  root = join(folder, 'repo');
  worktree = join(root, '.worktrees', 'a');
  config = join(folder, 'gitconfig');
  writeFileSync(config, globalConfigText({}));
  execFileSync(
    '/bin/sh',
    [
      '-c',
      `git init -q -b main ${root} && cd ${root} && git commit -q --allow-empty -m one && git worktree add -q -b lane .worktrees/a`,
    ],
    {
      env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: config },
      stdio: 'pipe',
    },
  );
  writeGitShim(join(folder, 'bin'), '/usr/bin/git');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function inLane(lane: 'worktree' | 'checkout', script: string): Answer {
  const commonDir = join(root, '.git');
  const facts: GitLane =
    lane === 'worktree'
      ? { kind: 'worktree', top: worktree, commonDir, metadataDir: join(commonDir, 'worktrees', 'a') }
      : { kind: 'checkout', top: root, commonDir };
  const path = `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', script], {
    cwd: facts.top,
    env: { PATH: path, HOME: folder, ...gitEnvironment(facts, config) },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const ofTheCheckout = [
  'gc',
  'gc --auto',
  'prune',
  'repack -ad',
  'prune-packed',
  'maintenance run',
  'multi-pack-index write',
  'pack-refs --all',
  'for-each-repo --config=x gc',
  'worktree add x',
  'worktree remove x',
  'worktree prune',
  'worktree move x y',
  'worktree repair',
  'worktree lock x',
  'worktree unlock x',
  'branch -d x',
  'branch -D x',
  'branch --delete x',
  'branch -rd origin/x',
  'branch -m x',
  'branch --move x',
  'tag -d v1',
  'update-ref -d refs/heads/x',
  'reflog expire --all',
  'remote add o https://example.invalid/x',
  'remote remove o',
  'remote rename o p',
  'remote set-url o https://example.invalid/x',
  'remote prune o',
  'fetch --prune',
  'pull -p',
  'fetch --depth=1',
  'lfs prune',
  'config x.y z',
  'config --add x.y z',
  'config --unset x.y',
  'config --local user.name me',
  'config --worktree x.y z',
  'config set x.y z',
  'submodule init',
  'submodule update --init',
  'sparse-checkout set x',
  '-C . gc',
  '-c x.y=z --no-pager gc',
  '--git-dir=.git gc',
  '--git-dir .git gc',
];

describe('the git of a worktree lane', () => {
  it('refuses operations of the checkout with a sentence [L17] [L26] [T10] [T12]', () => {
    const others = ofTheCheckout.filter((words) => {
      const { status, stderr } = inLane('worktree', `git ${words}`);
      const sentence = /^codelanes: "git [a-z-]+" .* is an operation of the checkout: .*\.\n$/u;
      return status !== 1 || !sentence.test(stderr);
    });
    expect(others).toEqual([]);
  });

  it('passes everything else on', () => {
    const passedOn = [
      'status',
      'worktree list',
      'branch',
      'branch -vv',
      'branch --merged',
      'branch new-one',
      'branch --contains HEAD',
      'config user.name',
      'config --get user.name',
      'config --list',
      'config --get-regexp user',
      'remote',
      'remote -v',
      'reflog',
      'stash list',
      'tag v1',
      'tag --list',
      'submodule status',
      'log --oneline -- -d',
      '-C . -c core.pager=cat --no-pager log',
      'commit --allow-empty -m "gc prune"',
      '--version',
      '--exec-path',
      'help -a',
    ];
    const stopped = passedOn.filter((words) => {
      const { status, stderr } = inLane('worktree', `git ${words}`);
      return status !== 0 || stderr !== '';
    });
    expect(stopped).toEqual([]);
  });

  it('leaves repositories alone that are not the lane’s', () => {
    const answer = inLane(
      'worktree',
      `git init -q scratch && cd scratch && git config user.name me && git commit -q --allow-empty -m x && git branch x && git branch -d x && git gc -q && cd .. && git -C scratch config a.b c && rm -rf scratch`,
    );
    expect(answer).toMatchObject({ status: 0, stderr: '' });
  });

  it('does not guess behind a global option that it does not know', () => {
    const answer = inLane('worktree', 'git --unheard-of gc');
    expect(answer.status).toBe(2);
    expect(answer.stderr).toContain('--unheard-of');
  });

  it('passes arguments on exactly, with the exit status of Git', () => {
    const answer = inLane(
      'worktree',
      `git -c "x.y=a  b" config x.y; git rev-parse --verify -q nothing; echo $?`,
    );
    expect(answer.stdout).toBe('a  b\n1\n');
  });

  it('says who writes the global configuration', () => {
    const answer = inLane('worktree', 'git config --global user.name me');
    expect(answer.status).toBe(1);
    expect(answer.stderr).toContain('which the worker writes');
  });

  it('is not fooled by variables of its own names', () => {
    expect(inLane('worktree', 'reason= scope=x subcommand=log globals=9 git config a.b c').status).toBe(1);
  });
});

describe('the git of a checkout lane', () => {
  it('refuses to change the shared configuration, and says until when', () => {
    const settings = [
      'config x.y z',
      'remote add o https://example.invalid/x',
      'remote set-url o x',
      'branch -m lane2',
      'branch -u x',
      'submodule init',
    ];
    const others = settings.filter((words) => {
      const { status, stderr } = inLane('checkout', `git ${words}`);
      return status !== 1 || !stderr.includes('refused until sealed storage');
    });
    expect(others).toEqual([]);
  });

  it('passes on what is its own to do', () => {
    const own = [
      'gc -q',
      'prune',
      'worktree prune',
      'branch new-two',
      'branch -D new-two',
      'pack-refs --all',
      'config user.name',
      'worktree add -q -b n .worktrees/n',
      'worktree remove .worktrees/n',
    ];
    expect(own.filter((words) => inLane('checkout', `git ${words}`).status !== 0)).toEqual([]);
  });
});

describe('the environment of Git', () => {
  it('names exactly the lane as safe and switches housekeeping off [L16] [T12]', () => {
    const answer = inLane(
      'worktree',
      'git config --get-all safe.directory; git config gc.auto; git config maintenance.auto',
    );
    expect(answer.stdout).toBe(`${worktree}\n0\nfalse\n`);
  });

  it('has an identity when the operator has told Git none', () => {
    const answer = inLane('worktree', 'git config user.name; git config user.email');
    expect(answer.stdout).toBe(`${defaultIdentity['user.name']}\n${defaultIdentity['user.email']}\n`);
  });

  it("takes four settings of the operator's and no more, and follows no include", async () => {
    const file = join(folder, 'operator');
    const included = join(folder, 'included');
    writeFileSync(included, '[user]\n\temail = included@example.invalid\n');
    writeFileSync(
      file,
      `[user]\n\tname = "O \\"P\\" \\\\ # ;"\n\tsigningkey = k\n[core]\n\tautocrlf = input\n\tpager = evil\n[alias]\n\tx = !evil\n[include]\n\tpath = ${included}\n[init]\n\tdefaultBranch = trunk\n`,
    );
    const settings = await readGlobalSettings({ PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: file });
    expect(settings).toEqual({
      'user.name': 'O "P" \\ # ;',
      'core.autocrlf': 'input',
      'init.defaultbranch': 'trunk',
    });
    writeFileSync(join(folder, 'written'), globalConfigText(settings));
    expect(
      await readGlobalSettings({ PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: join(folder, 'written') }),
    ).toEqual({
      ...settings,
      'user.email': defaultIdentity['user.email'],
    });
  });

  it('is content where the operator has no configuration', async () => {
    expect(await readGlobalSettings({ PATH: process.env['PATH'], HOME: '/nonexistent' })).toEqual({});
  });
});
