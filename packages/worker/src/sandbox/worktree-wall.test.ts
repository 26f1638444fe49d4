import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaneFixture } from './testing/lane-fixture.js';

let fixture: LaneFixture;
beforeAll(() => {
  fixture = new LaneFixture();
});
afterAll(() => {
  fixture.remove();
});

describe('a worktree lane', () => {
  it('runs', async () => {
    console.log(await fixture.inWorktree('a', 'id; pwd; git status; git log --oneline; ls -la / ~ /tmp; ls -la /proc/self/fd; env; cat /proc/1/environ | tr "\\0" "\\n" | wc'));
    console.log(await fixture.inWorktree('a', 'touch x; git add x; git commit -m x; git stash list; git prune; git gc; /usr/bin/git prune; git worktree add y; git config x.y z; git config user.name; git branch -D foo; touch /foo ../b/x ../../file; ls ../..'));
  });
});
