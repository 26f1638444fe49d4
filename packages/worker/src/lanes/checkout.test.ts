import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCheckout, pinCheckout } from './checkout.js';
import { makeSampleRepository, type SampleRepository } from './testing/sample-repository.js';
import { listWorktrees } from './worktrees.js';

let repository: SampleRepository;
const at = (...parts: string[]): string => repository.at(...parts);

beforeEach(() => {
  repository = makeSampleRepository('a', 'b');
});
afterEach(() => {
  repository.remove();
});

const refused = (check: string): unknown => expect.objectContaining({ check, code: 'REGISTRATION_INVALID' });

describe('a checkout', () => {
  it('is known by its canonical path, whatever link led to it', () => {
    symlinkSync(repository.root, join(repository.folder, 'link'));
    expect(pinCheckout(join(repository.folder, 'link')).root).toBe(repository.root);
  });

  it('[L11] is held to the folder and the .git directory that it had at the start', () => {
    const pin = pinCheckout(repository.root);
    openCheckout(repository.root, pin).close();
    renameSync(at('.git'), at('.git-old'));
    execFileSync('cp', ['-a', at('.git-old'), at('.git')]);
    expect(() => openCheckout(repository.root, pin)).toThrow(refused('identity'));
    rmSync(at('.git'), { recursive: true });
    renameSync(at('.git-old'), at('.git'));
    openCheckout(repository.root, pin).close();
    renameSync(repository.root, join(repository.folder, 'moved'));
    expect(() => openCheckout(repository.root, pin)).toThrow(refused('checkout_folder'));
    symlinkSync('moved', repository.root);
    expect(() => openCheckout(repository.root, pin)).toThrow(refused('identity'));
  });

  it('[S5: submodule root] [T04] whose .git is a file has no lanes', () => {
    expect(() => pinCheckout(at('.worktrees/a'))).toThrow(refused('git_directory'));
  });

  it('[T30] whose Git directory is elsewhere has no lanes, and has them after what the refusal says', () => {
    const separate = join(repository.folder, 'separate');
    const git = (...args: string[]) => execFileSync('git', ['-C', separate, ...args], { stdio: 'pipe' });
    execFileSync('git', ['init', '-q', '--separate-git-dir', `${separate}.git`, separate]);
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'one');
    git('worktree', 'add', '-q', '.worktrees/a');
    expect(() => pinCheckout(separate)).toThrow(refused('git_directory'));
    expect(() => pinCheckout(separate)).toThrow(/keeps its Git directory elsewhere.*"git worktree repair"/u);
    rmSync(join(separate, '.git'));
    renameSync(`${separate}.git`, join(separate, '.git'));
    git('worktree', 'repair', '.worktrees/a');
    expect(listWorktrees(pinCheckout(separate))).toMatchObject({ verified: ['a'], refused: [] });
  });

  it('whose .git is a link or missing has no lanes, nor has a bare repository itself', () => {
    const bare = join(repository.folder, 'bare');
    execFileSync('git', ['init', '-q', '--bare', bare]);
    expect(() => pinCheckout(bare)).toThrow(refused('git_directory'));
    expect(() => pinCheckout(repository.folder)).toThrow(refused('git_directory'));
    renameSync(at('.git'), join(repository.folder, 'real'));
    symlinkSync('../real', at('.git'));
    expect(() => pinCheckout(repository.root)).toThrow(refused('git_directory'));
  });

  it.each(['objects', 'refs', 'logs', 'worktrees'])('whose %s is a link has no lanes', (name) => {
    renameSync(at('.git', name), at('.git', `${name}-real`));
    symlinkSync(`${name}-real`, at('.git', name));
    expect(() => pinCheckout(repository.root)).toThrow(refused('git_storage'));
  });

  it('that keeps its refs as a reftable has no lanes', () => {
    mkdirSync(at('.git/reftable'));
    expect(() => pinCheckout(repository.root)).toThrow(refused('git_storage'));
  });
});

describe('the object stores that a checkout borrows from', () => {
  it('are found with those that they borrow from themselves', () => {
    const clone = (from: string, to: string): string => {
      const path = join(repository.folder, to);
      execFileSync('git', ['clone', '-q', '--shared', from, path], { stdio: 'ignore' });
      return path;
    };
    const second = clone(clone(repository.root, 'first'), 'second');
    expect(pinCheckout(second).alternates).toEqual([
      join(repository.folder, 'first/.git/objects'),
      at('.git/objects'),
    ]);
  });

  it('are no folders that merely were written into the list, such as /etc', () => {
    writeFileSync(at('.git/objects/info/alternates'), '# a comment\n/etc\n/nowhere\n../../..\n');
    expect(pinCheckout(repository.root).alternates).toEqual([]);
  });

  it('stay those of the start when a lane writes another into the list', () => {
    const pin = pinCheckout(repository.root);
    const planted = join(repository.folder, 'planted');
    mkdirSync(join(planted, 'pack'), { recursive: true });
    writeFileSync(at('.git/objects/info/alternates'), `${planted}\n`);
    const opened = openCheckout(repository.root, pin);
    opened.close();
    expect(opened.pin.alternates).toEqual([]);
    expect(pinCheckout(repository.root).alternates).toEqual([planted]);
  });
});

describe('the list of worktrees', () => {
  it('holds what verifies and says why the others do not', () => {
    mkdirSync(at('.worktrees/plain'));
    symlinkSync('a', at('.worktrees/alias'));
    writeFileSync(at('.worktrees/file'), '');
    mkdirSync(at('.worktrees/.hidden'));
    const listed = listWorktrees(pinCheckout(repository.root));
    expect(listed.verified).toEqual(['a', 'b']);
    expect(listed.refused.map(({ name }) => name)).toEqual(['alias', 'plain']);
    expect(listed.refused[0]?.message).toContain('symbolic link');
  });

  it('is empty where there are none, or where .worktrees is no directory', () => {
    const pin = pinCheckout(repository.root);
    renameSync(at('.worktrees'), at('real'));
    expect(listWorktrees(pin)).toEqual({ verified: [], refused: [] });
    symlinkSync('real', at('.worktrees'));
    expect(listWorktrees(pin)).toEqual({ verified: [], refused: [] });
  });
});
