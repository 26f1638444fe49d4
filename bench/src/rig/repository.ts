import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes a real repository with one commit and these linked worktrees; returns its checkout. */
export function createRepository(folder: string, name: string, worktrees: readonly string[] = []): string {
  const root = join(folder, name);
  mkdirSync(root);
  const git = (...args: readonly string[]) => {
    const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    execFileSync('git', ['-C', root, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Bench');
  git('config', 'user.email', 'bench@codelanes.invalid');
  writeFileSync(join(root, '.gitignore'), '.worktrees/\n');
  writeFileSync(join(root, 'four-kib.txt'), `${'x'.repeat(63)}\n`.repeat(64));
  git('add', '.');
  git('commit', '--quiet', '--message=Begin');
  for (const worktree of worktrees) {
    git('worktree', 'add', '--quiet', '-b', `lane/${worktree}`, join('.worktrees', worktree));
  }
  return root;
}
