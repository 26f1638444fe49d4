import { describeLane, laneOf } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLane } from './parse-lane.js';

const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,10}$/);
const worktree = fc
  .stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,10}$/)
  .filter((name) => !name.endsWith('.lock'));
const repository = fc.array(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,10}$/), {
  minLength: 1,
  maxLength: 3,
});

describe('parseLane', () => {
  it('reads back every lane as it is shown', () => {
    const fields = fc.record({
      workspaceId: id,
      repository: fc.option(
        repository.map((segments) => segments.join('/')),
        { nil: undefined },
      ),
      worktree: fc.option(worktree, { nil: undefined }),
    });
    fc.assert(
      fc.property(fields, (each) => {
        expect(parseLane(describeLane(laneOf(each)))).toEqual(laneOf(each));
      }),
    );
  });

  it.each(['', '/', 'app/', 'app/.worktrees/', 'app/../x', 'app/.worktrees/a/b', 'app/.worktrees/..'])(
    'refuses "%s"',
    (text) => {
      expect(() => parseLane(text)).toThrow('names no lane');
    },
  );
});
