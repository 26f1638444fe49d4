import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real repository in a temporary folder, for tests. */
export interface SampleRepository {
  /** Canonical path of the checkout. */
  readonly root: string;
  /** The temporary folder around it. */
  readonly folder: string;
  /** Runs Git in the checkout, without the settings of whoever runs the tests. */
  git(...words: string[]): string;
  /** A path beneath the checkout. */
  at(...parts: string[]): string;
  remove(): void;
}

/** Makes a repository with one commit on `main`, and linked worktrees of these names. */
export function makeSampleRepository(...worktrees: string[]): SampleRepository {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-lanes-')));
  const root = join(folder, 'repository');
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  };
  const run = (cwd: string, words: string[]): string =>
    execFileSync('git', words, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  run(folder, ['-c', 'init.defaultBranch=main', 'init', '-q', root]);
  const git = (...words: string[]): string => run(root, words);
  git('commit', '-q', '--allow-empty', '-m', 'first');
  for (const name of worktrees) git('worktree', 'add', '-q', '-b', `lane/${name}`, `.worktrees/${name}`);
  return {
    root,
    folder,
    git,
    at: (...parts) => join(root, ...parts),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
