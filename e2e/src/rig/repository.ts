import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real repository in a temporary folder, with linked worktrees. */
export class Repository {
  readonly folder: string;
  readonly root: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.root = join(folder, 'repo');
  }

  /** One commit on `main`, and for each name a worktree on the branch `lane/<name>`. */
  static create(...worktrees: readonly string[]): Repository {
    const repository = new Repository(realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-e2e-'))));
    mkdirSync(repository.root);
    repository.git('init', '--quiet', '--initial-branch=main');
    repository.git('config', 'user.name', 'Tester');
    repository.git('config', 'user.email', 'tester@codelanes.invalid');
    writeFileSync(join(repository.root, '.gitignore'), '.worktrees/\nnode_modules/\n');
    writeFileSync(join(repository.root, 'file.txt'), 'one\n');
    repository.git('add', '.');
    repository.git('commit', '--quiet', '--message=Begin');
    for (const name of worktrees) repository.addWorktree(name);
    return repository;
  }

  /** Git as the operator runs it, on the host, apart from any settings of this machine. */
  git(...args: readonly string[]): string {
    return this.gitIn(this.root, ...args);
  }

  gitIn(folder: string, ...args: readonly string[]): string {
    const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    return execFileSync('git', ['-C', folder, ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  addWorktree(name: string): void {
    this.git('worktree', 'add', '--quiet', '-b', `lane/${name}`, join('.worktrees', name));
  }

  /** Absolute path of something in the checkout, or with a worktree's name in that. */
  path(relative = '', worktree?: string): string {
    return join(this.root, ...(worktree === undefined ? [] : ['.worktrees', worktree]), relative);
  }

  /** Gives all of it to another user, who lets everybody write; only root can. */
  giveTo(user: number): void {
    execFileSync('chown', ['-R', String(user), this.root]);
    execFileSync('chmod', ['-R', 'a+rwX', this.root]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
