import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import { pinCheckout, type CheckoutPin } from './checkout.js';
import { StandingWorktrees } from './lost-worktrees.js';

let fixture: LaneFixture;
let pin: CheckoutPin;
beforeEach(() => {
  fixture = new LaneFixture(['a', 'b']);
  pin = pinCheckout(fixture.root);
});
afterEach(() => {
  fixture.remove();
});

const sentence = (name: string, head: string) =>
  `The worktree "${name}" is gone, and what was not committed there with it; Git still has it registered. To have it again, run "git worktree prune && git worktree add .worktrees/${name} ${head}" in the checkout.`;

describe('the worktrees of a checkout', () => {
  it('[T37] that a clean took away are named with what brings them back, which does', () => {
    const before = StandingWorktrees.look(pin);
    fixture.host('git clean -q -ffdx');
    expect(before.lost()).toEqual([sentence('a', 'lane/a'), sentence('b', 'lane/b')]);
    fixture.host('git worktree prune && git worktree add -q .worktrees/a lane/a');
    expect(StandingWorktrees.look(pin).lost()).toEqual([]);
    expect(fixture.host('cat file', fixture.path('a'))).toBe('one\n');
  });

  it('are named by their commit where no branch was checked out', () => {
    fixture.host('git checkout -q --detach', fixture.path('a'));
    const commit = fixture.host('git rev-parse HEAD').trim();
    const before = StandingWorktrees.look(pin);
    rmSync(fixture.path('a'), { recursive: true });
    expect(before.lost()).toEqual([sentence('a', commit)]);
  });

  it('are named without their branch where that is no plain word: a lane wrote it', () => {
    writeFileSync(join(fixture.git, 'worktrees/a/HEAD'), 'ref: refs/heads/x;rm${IFS}-rf${IFS}.\n');
    const before = StandingWorktrees.look(pin);
    rmSync(fixture.path('a'), { recursive: true });
    expect(before.lost()).toEqual([sentence('a', 'BRANCH')]);
  });

  it('are not lost where Git removed them, where they still stand, or where they were gone before', () => {
    rmSync(fixture.path('b'), { recursive: true });
    const before = StandingWorktrees.look(pin);
    fixture.host('git worktree remove .worktrees/a && git worktree add -q -b lane/c .worktrees/c');
    expect(before.lost()).toEqual([]);
  });

  it('are none where the checkout does not verify, before or after', () => {
    const before = StandingWorktrees.look(pin);
    fixture.host(`mv .git ${join(fixture.folder, 'elsewhere')}`);
    expect(before.lost()).toEqual([]);
    expect(StandingWorktrees.look(pin).lost()).toEqual([]);
  });
});
