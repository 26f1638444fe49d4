import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { meetClosedFolders } from '../files/testing/closed-folders.js';
import { pinCheckout, type CheckoutPin } from './checkout.js';
import type { LaneCheck, LaneRefusal } from './lane-refusal.js';
import { makeSampleRepository, type SampleRepository } from './testing/sample-repository.js';
import { openWorktree, type WorktreeIdentity } from './verify.js';

let repository: SampleRepository;
let pin: CheckoutPin;
const at = (...parts: string[]): string => repository.at(...parts);

beforeEach(() => {
  repository = makeSampleRepository('a', 'b');
  pin = pinCheckout(repository.root);
});
afterEach(() => {
  repository.remove();
});

const copy = (from: string, to: string): void => {
  execFileSync('cp', ['-a', from, to]);
};

/** Opens, closes, and returns what was found. */
function verify(
  name = 'a',
  expected?: WorktreeIdentity,
): { metadataDir: string; identity: WorktreeIdentity } {
  const opened = openWorktree(pin, name, expected);
  opened.close();
  return opened;
}

function refusalOf(name = 'a', expected?: WorktreeIdentity): LaneRefusal {
  const open = readdirSync('/proc/self/fd').length;
  try {
    verify(name, expected);
  } catch (error) {
    expect(readdirSync('/proc/self/fd')).toHaveLength(open);
    return error as LaneRefusal;
  }
  throw new Error(`Worktree ${name} was accepted.`);
}

function expectRefused(check: LaneCheck, words: string | RegExp, name = 'a'): void {
  const refusal = refusalOf(name);
  expect(refusal).toMatchObject({ check, code: 'INVALID_REQUEST' });
  expect(refusal.message).toMatch(words);
}

describe('a linked worktree', () => {
  it('[L8] [L9] [L10] [T29] is accepted as Git makes it, and held by descriptors', () => {
    const opened = openWorktree(pin, 'a');
    try {
      expect(opened).toMatchObject({
        kind: 'worktree',
        root: repository.root,
        lanePath: at('.worktrees/a'),
        commonDir: at('.git'),
        metadataDir: at('.git/worktrees/a'),
      });
      renameSync(at('.worktrees/a'), at('.worktrees/moved'));
      symlinkSync('b', at('.worktrees/a'));
      expect(opened.directory.path()).toBe(at('.worktrees/moved'));
      expect(opened.metadata.path()).toBe(at('.git/worktrees/a'));
    } finally {
      opened.close();
    }
  });

  it('is refused with the way out where its metadata is closed to the worker', () => {
    meetClosedFolders();
    chmodSync(at('.git/worktrees/a/logs'), 0);
    expectRefused('metadata', 'chmod -R u+rwX');
    chmodSync(at('.git/worktrees/a/logs'), 0o755);
  });

  it('[L12] starts no Git process while it is verified', () => {
    const bin = join(repository.folder, 'bin');
    const mark = join(repository.folder, 'git-ran');
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$@" >> '${mark}'\n`);
    chmodSync(join(bin, 'git'), 0o755);
    vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`);
    pinCheckout(repository.root);
    verify();
    renameSync(at('.worktrees/b'), at('.worktrees/c'));
    refusalOf('c');
    expect(existsSync(mark)).toBe(false);
    const sources = [
      'verify',
      'checkout',
      'git-pointer',
      'alternates',
      'metadata-entries',
      '../files/directory',
    ];
    for (const source of sources) {
      expect(readFileSync(new URL(`${source}.ts`, import.meta.url), 'utf8')).not.toContain('child_process');
    }
  });

  it('[L11] [L13] is held to the identity of its admission when it is used', () => {
    const { identity } = verify();
    expect(verify('a', identity).identity).toEqual(identity);
    // Both exist at once, so the new one cannot get the old one's inodes.
    renameSync(at('.worktrees/a'), join(repository.folder, 'old'));
    repository.git('worktree', 'prune');
    repository.git('worktree', 'add', '-q', '.worktrees/a', 'lane/a');
    expect(refusalOf('a', identity)).toMatchObject({ check: 'identity' });
    verify('a');
  });

  it('is not found where there is none, and says how to make it', () => {
    expectRefused('worktree_folder', 'git worktree add', 'none');
  });

  it.each(['', '.', '..', 'a/b', '.git', '-x', 'a.lock', 'a\0', '../a'])('refuses the name %j', (name) => {
    expect(refusalOf(name)).toMatchObject({ check: 'name' });
  });
});

describe('[L25] forged worktrees are refused', () => {
  it('[S5: symlinked directory] to a sibling or to elsewhere', () => {
    symlinkSync('a', at('.worktrees/alias'));
    expectRefused('worktree_folder', 'symbolic link', 'alias');
    renameSync(at('.worktrees/a'), join(repository.folder, 'elsewhere'));
    symlinkSync(join(repository.folder, 'elsewhere'), at('.worktrees/a'));
    expectRefused('worktree_folder', 'symbolic link');
  });

  it('[S5: symlinked .worktrees]', () => {
    renameSync(at('.worktrees'), at('real'));
    symlinkSync('real', at('.worktrees'));
    expectRefused('worktree_folder', '".worktrees" is a symbolic link');
  });

  it('[S5: symlinked .git]', () => {
    renameSync(at('.worktrees/a/.git'), at('.worktrees/a/pointer'));
    symlinkSync('pointer', at('.worktrees/a/.git'));
    expectRefused('pointer', 'symbolic link');
  });

  it('[S5: .git is a directory]', () => {
    rmSync(at('.worktrees/a/.git'));
    copy(at('.git'), at('.worktrees/a/.git'));
    expectRefused('pointer', 'directory');
  });

  it('[S5: .git is a FIFO] without waiting for it', () => {
    rmSync(at('.worktrees/a/.git'));
    execFileSync('mkfifo', [at('.worktrees/a/.git')]);
    expectRefused('pointer', 'not a regular file');
  });

  it('[S5: hard-linked .git]', () => {
    linkSync(at('.worktrees/a/.git'), at('second-name'));
    expectRefused('pointer', 'hard link');
  });

  it('[S5: missing .git] although Git would find the main repository', () => {
    rmSync(at('.worktrees/a/.git'));
    expectRefused('pointer', 'does not exist');
    mkdirSync(at('.worktrees/plain'));
    expectRefused('pointer', 'does not exist', 'plain');
  });

  it.each([
    ['another repository', () => '/elsewhere/.git/worktrees/a'],
    ['the root’s .git', () => at('.git')],
    ['the registry itself', () => at('.git/worktrees')],
    ['a climb to the right place', () => `${at('.git/worktrees/b')}/../a`],
    ['a climb out of the registry', () => `${at('.git/worktrees')}/../worktrees/a`],
    ['a folder beneath metadata', () => at('.git/worktrees/a/logs')],
    ['a doubled slash', () => `${at('.git/worktrees')}//a`],
    ['a trailing slash', () => `${at('.git/worktrees/a')}/`],
    ['a relative climb too far', () => '../../../.git/worktrees/a'],
    ['nothing', () => ''],
  ])('[S5: gitdir to elsewhere] to %s', (_, target) => {
    writeFileSync(at('.worktrees/a/.git'), `gitdir: ${target()}\n`);
    expectRefused('pointer', 'point');
  });

  it('[S5: gitdir to a sibling’s metadata]', () => {
    writeFileSync(at('.worktrees/a/.git'), `gitdir: ${at('.git/worktrees/b')}\n`);
    expectRefused('back_pointer', 'does not point back');
  });

  it.each([
    ['two lines', (text: string) => `${text}worktree: x\n`],
    ['another word', (text: string) => text.replace('gitdir', 'path')],
    ['too many bytes', (text: string) => `${text.trim()}${'/x'.repeat(3000)}`],
    ['a NUL', (text: string) => `${text.trim()}\0`],
  ])('whose pointer holds %s', (_, change) => {
    writeFileSync(at('.worktrees/a/.git'), change(readFileSync(at('.worktrees/a/.git'), 'utf8')));
    expectRefused('pointer', /pointer|point/);
  });

  it('[S5: commondir missing]', () => {
    rmSync(at('.git/worktrees/a/commondir'));
    expectRefused('commondir', 'does not exist');
  });

  it('[S5: commondir symlink]', () => {
    rmSync(at('.git/worktrees/a/commondir'));
    symlinkSync('../b/commondir', at('.git/worktrees/a/commondir'));
    expectRefused('commondir', 'symbolic link');
  });

  it('[S5: commondir of another repository]', () => {
    for (const text of ['/elsewhere/.git', '..', '../../..', '../b/../..', './../..']) {
      writeFileSync(at('.git/worktrees/a/commondir'), `${text}\n`);
      expectRefused('commondir', 'does not lead to');
    }
  });

  it('[S5: back pointer elsewhere]', () => {
    writeFileSync(at('.git/worktrees/a/gitdir'), `${at('.worktrees/b/.git')}\n`);
    expectRefused('back_pointer', 'worktree repair');
  });

  it('[S5: moved by mv] offers the repair, which helps', () => {
    renameSync(at('.worktrees/a'), at('.worktrees/moved'));
    expectRefused('back_pointer', 'git worktree repair .worktrees/moved', 'moved');
    repository.git('worktree', 'repair', '.worktrees/moved');
    verify('moved');
  });

  it('[S5: copied by cp -a] the copy, not the original', () => {
    execFileSync('cp', ['-a', at('.worktrees/a'), at('.worktrees/copy')]);
    expectRefused('back_pointer', 'does not point back', 'copy');
    verify('a');
  });

  it('[S5: two claims] by two metadata folders', () => {
    copy(at('.git/worktrees/a'), at('.git/worktrees/a2'));
    expectRefused('claim', '"a2"');
    verify('b');
  });

  it('[S5: metadata is a symlink]', () => {
    renameSync(at('.git/worktrees/a'), at('.git/worktrees/real'));
    symlinkSync('real', at('.git/worktrees/a'));
    expectRefused('metadata', 'symbolic link');
  });

  it('whose registry is a symlink', () => {
    renameSync(at('.git/worktrees'), join(repository.folder, 'registry'));
    symlinkSync(join(repository.folder, 'registry'), at('.git/worktrees'));
    expect(refusalOf()).toMatchObject({ check: 'git_storage', code: 'REGISTRATION_INVALID' });
  });

  it('[S5: nested worktree] beneath another lane', () => {
    repository.git('worktree', 'add', '-q', '-b', 'nested', '.worktrees/a/n');
    expectRefused('name', 'one path segment', 'a/n');
  });

  it.each(['index', 'logs/HEAD', 'ORIG_HEAD', 'config.worktree'])(
    '[S5: symlinked metadata entry] %s',
    (name) => {
      rmSync(at('.git/worktrees/a', name), { force: true });
      symlinkSync(at('Makefile'), at('.git/worktrees/a', name));
      expectRefused('metadata', `"${name}" in ".git/worktrees/a" is a symbolic link`);
    },
  );

  it('with a hard-linked index or a pipe among their metadata', () => {
    linkSync(at('.git/worktrees/a/index'), at('second-name'));
    expectRefused('metadata', 'hard link');
    execFileSync('mkfifo', [at('.git/worktrees/b/MERGE_MSG')]);
    expectRefused('metadata', 'neither a file nor a directory', 'b');
  });

  it.each([
    'ref: refs/remotes/origin/x',
    'ref: refs/heads/../../x',
    'ref: refs/heads/.invalid',
    'abc',
    'ref: /etc/passwd',
    'ref: refs/heads/a.lock',
  ])('[S5: HEAD neither branch nor hash] %s', (head) => {
    writeFileSync(at('.git/worktrees/a/HEAD'), `${head}\n`);
    expectRefused('head', 'HEAD');
  });

  it('[S5: symlinked HEAD]', () => {
    rmSync(at('.git/worktrees/a/HEAD'));
    symlinkSync('../../HEAD', at('.git/worktrees/a/HEAD'));
    expectRefused('head', 'symbolic link');
  });
});

describe('unusual worktrees that are sound are accepted', () => {
  it('[S5: metadata name is not the folder’s]', () => {
    repository.git('worktree', 'move', '.worktrees/a', '.worktrees/renamed');
    expect(verify('renamed').metadataDir).toBe(at('.git/worktrees/a'));
    mkdirSync(at('elsewhere'));
    repository.git('worktree', 'add', '-q', '-b', 'x1', 'elsewhere/a');
    repository.git('worktree', 'add', '-q', '-b', 'x2', '.worktrees/a');
    expect(verify('a').metadataDir).toBe(at('.git/worktrees/a2'));
  });

  it('[S5: relative pointers]', () => {
    writeFileSync(at('.worktrees/a/.git'), 'gitdir: ../../.git/worktrees/a\n');
    writeFileSync(at('.git/worktrees/a/gitdir'), '../../../.worktrees/a/.git\n');
    verify();
    expect(spawnSync('git', ['status', '--short'], { cwd: at('.worktrees/a') }).status).toBe(0);
  });

  it('[S5: bare main] a bare repository as the .git of the root', () => {
    repository.git('config', 'core.bare', 'true');
    expect(verify().metadataDir).toBe(at('.git/worktrees/a'));
  });

  it('[S5: config.worktree] which the sandbox pins', () => {
    repository.git('config', 'extensions.worktreeConfig', 'true');
    execFileSync('git', ['config', '--worktree', 'core.sparseCheckout', 'true'], { cwd: at('.worktrees/a') });
    expect(readdirSync(at('.git/worktrees/a'))).toContain('config.worktree');
    verify();
  });

  it('a detached HEAD, an unborn branch, a locked one and one in the middle of a rebase', () => {
    const git = (...words: string[]): void => {
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...words], {
        cwd: at('.worktrees/a'),
        stdio: 'ignore',
      });
    };
    git('checkout', '-q', '--detach');
    verify();
    git('checkout', '-q', '--orphan', 'new/one');
    verify();
    git('checkout', '-q', 'lane/a');
    git('commit', '-q', '--allow-empty', '-m', 'x');
    repository.git('worktree', 'lock', '.worktrees/a');
    expect(() => {
      git('rebase', '-q', '-f', '-x', 'false', 'HEAD~1');
    }).toThrow();
    expect(existsSync(at('.git/worktrees/a/rebase-merge'))).toBe(true);
    verify();
  });

  it('one beside a half-made or broken sibling', () => {
    mkdirSync(at('.git/worktrees/half'));
    writeFileSync(at('.git/worktrees/b/gitdir'), '\0');
    symlinkSync('a', at('.git/worktrees/link'));
    appendFileSync(at('.git/worktrees/file'), at('.worktrees/a/.git'));
    expect(verify().metadataDir).toBe(at('.git/worktrees/a'));
  });
});
