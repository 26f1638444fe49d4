import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Directory } from '../files/directory.js';
import { makeSampleRepository, type SampleRepository } from '../lanes/testing/sample-repository.js';
import { copyFiles } from './copy-files.js';

let repository: SampleRepository;
let worktree: string;
let said: string[];

beforeEach(() => {
  repository = makeSampleRepository();
  writeFileSync(repository.at('tracked'), 'on main\n');
  repository.git('add', 'tracked');
  repository.git('commit', '-qm', 'tracked');
  repository.git('worktree', 'add', '-q', '-b', 'lane/a', '.worktrees/a');
  worktree = repository.at('.worktrees/a');
  writeFileSync(join(repository.folder, 'secret'), 'of the machine\n');
  said = [];
});
afterEach(() => {
  repository.remove();
});

async function copy(...paths: readonly string[]): Promise<void> {
  const opened = [repository.root, repository.at('.git'), worktree, repository.at('.git/worktrees/a')].map(
    (path) => Directory.open(path),
  );
  const [top, git, treeTop, metadata] = opened;
  if (!top || !git || !treeTop || !metadata) throw new Error('four folders');
  try {
    await copyFiles({
      paths,
      checkout: { top, git },
      worktree: { top: treeTop, git: metadata },
      hashBytes: 20,
      say: (line) => said.push(line),
    });
  } finally {
    for (const each of opened) each.close();
  }
}

describe('copying files of the checkout into a worktree', () => {
  it('brings regular files with their mode and the folders above them', async () => {
    writeFileSync(repository.at('.env'), 'KEY=1\n', { mode: 0o600 });
    mkdirSync(repository.at('config/local'), { recursive: true });
    writeFileSync(repository.at('config/local/keys.json'), '{}');
    await copy('.env', 'config/local/keys.json');
    expect(readFileSync(join(worktree, '.env'), 'utf8')).toBe('KEY=1\n');
    expect(statSync(join(worktree, '.env')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(worktree, 'config/local/keys.json'), 'utf8')).toBe('{}');
    expect(said).toHaveLength(2);
  });

  it('leaves out what the checkout does not have, and leaves alone what the worktree has', async () => {
    writeFileSync(repository.at('.env'), 'of the checkout');
    writeFileSync(join(worktree, '.env'), 'of a person');
    await copy('.env', 'missing', 'no/such/folder');
    expect(readFileSync(join(worktree, '.env'), 'utf8')).toBe('of a person');
    expect(said.map((line) => line.split(':')[1])).toEqual([
      ' the worktree has it already.',
      ' the checkout does not have it.',
      ' the checkout does not have it.',
    ]);
  });

  it('is done again after a crash in the middle of a file', async () => {
    writeFileSync(repository.at('.env'), 'KEY=1\n');
    writeFileSync(join(worktree, '.codelanes-setup.tmp'), 'KE');
    await copy('.env');
    expect(readFileSync(join(worktree, '.env'), 'utf8')).toBe('KEY=1\n');
    expect(existsSync(join(worktree, '.codelanes-setup.tmp'))).toBe(false);
  });

  it('follows no link in the checkout: to a file, through a folder', async () => {
    symlinkSync(join(repository.folder, 'secret'), repository.at('.env'));
    symlinkSync(repository.folder, repository.at('config'));
    await expect(copy('.env')).rejects.toThrow('is not a regular file');
    await expect(copy('config/secret')).rejects.toThrow('symbolic link');
    expect(existsSync(join(worktree, '.env'))).toBe(false);
    expect(existsSync(join(worktree, 'config'))).toBe(false);
  });

  it('follows no link in the worktree: not through a folder, not by the name itself', async () => {
    mkdirSync(repository.at('config'));
    writeFileSync(repository.at('config/keys'), 'new');
    writeFileSync(repository.at('.env'), 'new');
    const outside = join(repository.folder, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(worktree, 'config'));
    symlinkSync(join(outside, 'made'), join(worktree, '.env'));
    await expect(copy('config/keys')).rejects.toThrow('symbolic link');
    await copy('.env');
    expect(said).toEqual(['".env" is not copied: the worktree has it already.']);
    expect(existsSync(join(outside, 'keys')) || existsSync(join(outside, 'made'))).toBe(false);
  });

  it('takes nothing but regular files', async () => {
    mkdirSync(repository.at('folder'));
    execFileSync('mkfifo', [repository.at('pipe')]);
    await expect(copy('folder')).rejects.toThrow('is not a regular file');
    await expect(copy('pipe')).rejects.toThrow('is not a regular file');
  });

  it("takes no file that Git tracks on either side, and nothing of Git's own", async () => {
    repository.git('rm', '-q', '--cached', 'tracked');
    await expect(copy('tracked')).rejects.toThrow('is tracked by Git in the worktree');
    writeFileSync(repository.at('staged'), '');
    repository.git('add', 'staged');
    await expect(copy('staged')).rejects.toThrow('is tracked by Git in the checkout');
    await expect(copy('.git/config')).rejects.toThrow("Git's own storage");
    await expect(copy('sub/.GIT/config')).rejects.toThrow("Git's own storage");
    writeFileSync(repository.at('.git/index'), 'broken');
    await expect(copy('free')).rejects.toThrow('the index of the checkout cannot be read');
  });

  it('stops at its bound', async () => {
    writeFileSync(repository.at('large'), Buffer.alloc(16 * 1024 ** 2 + 1));
    await expect(copy('large')).rejects.toThrow('has more than');
    expect(existsSync(join(worktree, 'large'))).toBe(false);
  });
});
