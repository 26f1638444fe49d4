import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pinCheckout } from './checkout.js';
import { laneHead, type LaneHead } from './lane-head.js';
import { makeSampleRepository, type SampleRepository } from './testing/sample-repository.js';
import { openWorktree } from './verify.js';

let repository: SampleRepository;

beforeEach(() => {
  repository = makeSampleRepository('a');
});
afterEach(() => {
  repository.remove();
});

/** What is told after something happened in a lane that had verified. */
async function head(happens: () => void = () => undefined): Promise<LaneHead> {
  const opened = openWorktree(pinCheckout(repository.root), 'a');
  try {
    happens();
    return await laneHead(opened.metadata, opened.checkout.git);
  } finally {
    opened.close();
  }
}

const tip = () => repository.git('rev-parse', 'HEAD').trim();
const metadata = (name: string) => join(repository.root, '.git/worktrees/a', name);
const unknown = { branch: null, head: null };

describe('where a worktree stands', () => {
  it('is its branch and the commit of it', async () => {
    repository.git('-C', '.worktrees/a', 'switch', '--quiet', '--create', 'feature/deep');
    expect(await head()).toEqual({ branch: 'feature/deep', head: tip() });
  });

  it('is found among packed refs too, where the loose one is gone', async () => {
    repository.git('-C', '.worktrees/a', 'switch', '--quiet', '--create', 'feature/deep');
    repository.git('branch', 'other/feature/deep', 'HEAD');
    repository.git('pack-refs', '--all');
    expect(await head()).toEqual({ branch: 'feature/deep', head: tip() });
  });

  it('is a commit alone where it is on no branch', async () => {
    repository.git('-C', '.worktrees/a', 'checkout', '--quiet', '--detach');
    expect(await head()).toEqual({ branch: null, head: tip() });
  });

  it('has no commit on a branch without one', async () => {
    repository.git('-C', '.worktrees/a', 'switch', '--quiet', '--orphan', 'new');
    expect(await head()).toEqual({ branch: 'new', head: null });
  });

  it.each(['ref: refs/heads/../../../secret', 'ref: refs/tags/x', 'nonsense', 'ref: refs/heads/a\nb'])(
    'cannot be told from a HEAD of %j',
    async (text) => {
      const said = await head(() => {
        writeFileSync(metadata('HEAD'), `${text}\n`);
      });
      expect(said).toEqual(unknown);
    },
  );

  it('follows no link that was planted, and reads nothing elsewhere', async () => {
    const secret = join(dirname(repository.root), 'secret');
    writeFileSync(secret, `${'a'.repeat(40)}\n`);
    const linked = await head(() => {
      rmSync(metadata('HEAD'));
      symlinkSync(secret, metadata('HEAD'));
    });
    expect(linked).toEqual(unknown);
    rmSync(metadata('HEAD'));
    writeFileSync(metadata('HEAD'), 'ref: refs/heads/planted/x\n');
    mkdirSync(join(repository.root, '.git/refs/heads/planted'), { recursive: true });
    symlinkSync(secret, join(repository.root, '.git/refs/heads/planted/x'));
    expect(await head()).toEqual({ branch: 'planted/x', head: null });
    rmSync(secret);
  });
});
