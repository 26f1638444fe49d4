import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The linked worktrees of the sample, each on a branch of its own. */
const sampleWorktrees = ['a', 'b'] as const;
export type SampleWorktree = (typeof sampleWorktrees)[number];

/** Makes a repository with one commit and its linked worktrees, apart from any Git settings of this machine. */
export async function makeSampleRepository(folder: string): Promise<void> {
  const git = async (...args: readonly string[]) => {
    const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    await run('git', ['-C', folder, ...args], { env });
  };
  await mkdir(folder, { recursive: true });
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'Codelanes demo');
  await git('config', 'user.email', 'demo@codelanes.invalid');
  await writeFile(join(folder, '.gitignore'), '.worktrees/\n');
  await writeFile(join(folder, 'README.md'), 'A sample for the demo of Codelanes.\n');
  await git('add', '.');
  await git('commit', '--quiet', '--message=Begin');
  for (const name of sampleWorktrees) {
    await git('worktree', 'add', '--quiet', '-b', `work-${name}`, join('.worktrees', name));
  }
}
