import { afterEach, beforeEach, expect, it } from 'vitest';
import { Directory } from '../files/directory.js';
import { makeSampleRepository, type SampleRepository } from '../lanes/testing/sample-repository.js';
import { writeFileSync, symlinkSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gitLocks } from './git-locks.js';

let repository: SampleRepository;
let git: string;
beforeEach(() => {
  repository = makeSampleRepository('a');
  git = join(repository.root, '.git');
});
afterEach(() => {
  repository.remove();
});

function locks(metadata?: string): readonly string[] {
  const directory = Directory.open(git);
  try {
    return [...gitLocks(directory, metadata)].sort();
  } finally {
    directory.close();
  }
}

it('finds the locks of the checkout, of its worktrees and of refs', () => {
  mkdirSync(join(git, 'refs/heads/deep'), { recursive: true });
  const names = [
    'index.lock',
    'HEAD.lock',
    'config.lock',
    'packed-refs.lock',
    'refs/heads/deep/x.lock',
    'worktrees/a/index.lock',
  ];
  for (const name of names) writeFileSync(join(git, name), '');
  expect(locks()).toEqual([...names].sort());
});

it('finds of a worktree only its own and those of refs', () => {
  for (const name of ['index.lock', 'worktrees/a/HEAD.lock', 'refs/heads/y.lock']) {
    writeFileSync(join(git, name), '');
  }
  expect(locks('a')).toEqual(['refs/heads/y.lock', 'worktrees/a/HEAD.lock']);
});

it('follows no link and takes no folder for a lock', () => {
  symlinkSync(git, join(git, 'refs/heads/loop'));
  mkdirSync(join(git, 'refs/heads/name.lock'));
  expect(locks()).toEqual([]);
});
