import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import { Directory } from '../files/directory.js';
import { removePlantedRefs, type SweptRefs } from './planted-refs.js';

let fixture: LaneFixture;
beforeEach(() => {
  fixture = new LaneFixture(['a']);
});
afterEach(() => {
  fixture.remove();
});

function sweep(most?: number): SweptRefs {
  const git = Directory.open(fixture.git);
  try {
    return removePlantedRefs(git, undefined, most);
  } finally {
    git.close();
  }
}

describe('links and pipes among refs and their logs', () => {
  it('are removed, so that the next commit on the host writes where it should', () => {
    const victim = join(fixture.folder, 'home', 'secret');
    fixture.host(`ln -sf ${victim} .git/logs/refs/heads/main`);
    expect(sweep().notices.join()).toContain('".git/logs/refs/heads/main"');
    fixture.host('git commit -q --allow-empty -m after');
    expect(readFileSync(victim, 'utf8')).toBe('of the operator\n');
  });

  it('are removed where they stand for a folder, without a look at what is behind', () => {
    const outside = join(fixture.folder, 'outside');
    mkdirSync(outside);
    symlinkSync('/etc', join(outside, 'kept'));
    fixture.host(
      `mkdir -p .git/refs/deep/er; ln -s ${outside} .git/refs/deep/er/link; ln -s ${outside} .git/logs/refs/link`,
    );
    expect(sweep().notices.join()).toContain('".git/refs/deep/er/link", ".git/logs/refs/link"');
    expect(lstatSync(join(outside, 'kept')).isSymbolicLink()).toBe(true);
    expect(existsSync(join(fixture.git, 'refs/deep/er/link'))).toBe(false);
  });

  it('are removed as pipes are, on which every Git would wait for ever', () => {
    fixture.host('mkfifo .git/refs/heads/pipe');
    expect(sweep().notices.join()).toContain('".git/refs/heads/pipe"');
    expect(fixture.host('git branch --list')).toContain('main');
  });

  it('are removed among the packs, of which every Git opens each', () => {
    fixture.host(`mkfifo .git/objects/pack/pack-${'a'.repeat(40)}.idx`);
    expect(sweep().notices.join()).toContain('".git/objects/pack/pack-');
    expect(fixture.host('timeout 40 git cat-file -t 1234567 2>&1; echo $?')).not.toContain('124');
  });

  it('stay where they are symbolic refs of old', () => {
    fixture.host('mkdir -p .git/refs/remotes/o; ln -s refs/remotes/o/main .git/refs/remotes/o/HEAD');
    expect(sweep()).toEqual({ notices: [] });
    expect(lstatSync(join(fixture.git, 'refs/remotes/o/HEAD')).isSymbolicLink()).toBe(true);
  });

  it('are removed from the metadata of a worktree, through which the renaming of its branch would write', () => {
    const victim = join(fixture.folder, 'home', 'secret');
    fixture.host(`ln -sf ${victim} .git/worktrees/a/logs/HEAD; mkfifo .git/worktrees/a/pipe`);
    const git = Directory.open(fixture.git);
    const { notices } = removePlantedRefs(git, 'a');
    git.close();
    expect(notices.join()).toContain('".git/worktrees/a/logs/HEAD"');
    fixture.host('git branch -m lane/a new');
    expect(readFileSync(victim, 'utf8')).toBe('of the operator\n');
    expect(fixture.host('ls .git/worktrees/a')).not.toContain('pipe');
  });

  it('are told in a bounded sentence', () => {
    for (let number = 0; number < 50; number += 1)
      symlinkSync('/etc', join(fixture.git, 'refs', `l${number}`));
    const { notices } = sweep();
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain('and 45 more');
  });

  it('close the lane where there is more than can be looked through, and say what to do', () => {
    fixture.host('for i in 1 2 3; do git branch --no-track "b$i"; done');
    const places = '.git/refs .git/logs/refs .git/objects/pack .git/worktrees';
    const most = fixture.host(`find ${places} -mindepth 1`).split('\n').length - 1;
    expect(sweep(most)).toEqual({ notices: [] });
    const { quarantine } = sweep(most - 1);
    expect(quarantine).toMatch(/^More than [0-9]+ files .* run "git pack-refs --all" in the checkout/u);
    fixture.host('git pack-refs --all');
    expect(sweep(most - 1)).toEqual({ notices: [] });
  });

  it('are removed with the folders that lie deeper than any branch, whatever these are called', () => {
    const deep = 'd=.git/refs; mkdir $d/x; cd $d/x; for i in $(seq 3000); do mkdir d; cd d; done';
    fixture.host(`${deep}; mkfifo pipe "$(printf 'p\\377')"; ln -s /etc link`);
    const { notices, quarantine } = sweep();
    expect(quarantine).toBeUndefined();
    expect(notices.join()).toContain('".git/refs/x/d/…"');
    expect(fixture.host('find .git/refs -type p; find .git/refs -type l; ls .git/refs')).toBe(
      'heads\ntags\nx\n',
    );
    expect(sweep()).toEqual({ notices: [] });
  });

  it('are nowhere in an ordinary repository, not even one whose logs are off', () => {
    expect(sweep()).toEqual({ notices: [] });
    fixture.host('rm -r .git/logs');
    writeFileSync(join(fixture.git, 'refs/heads/odd name'), 'x');
    expect(sweep()).toEqual({ notices: [] });
  });
});
