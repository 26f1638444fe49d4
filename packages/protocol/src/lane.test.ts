import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  callsConflict,
  describeLane,
  fieldsOfLane,
  laneKey,
  laneKeysFromRoot,
  laneOf,
  laneSchema,
  lanesOverlap,
  type Lane,
  type LaneFields,
} from './lane.js';

/** Ids and paths that try to look like other lanes' keys. */
const workspaceId = fc.constantFrom('a', 'b', 'a:worktree:x', 'a.worktree', 'a-b');
const name = fc.constantFrom('x', 'y', 'worktree', 'x%2F', 'a.b');
const repository = fc.constantFrom('r', 'r/s', 'r/worktree:x', 'r%2Fs', 'worktree:x', 'ä', 'r/.worktrees/x');
const instance = fc.constantFrom('0'.repeat(64), '1'.repeat(64));
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const fields: fc.Arbitrary<LaneFields> = fc.record({
  workspaceId,
  workspaceInstanceId: optional(instance),
  repository: optional(repository),
  worktree: optional(name),
});
const lane = fields.map(laneOf);

function same(one: Lane, other: Lane): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

describe('the lane of a call', () => {
  it('[L4] is named by its fields alone, under its root', () => {
    expect(laneOf({ workspaceId: 'p' })).toEqual(['p']);
    expect(laneOf({ workspaceId: 'p', worktree: 'a' })).toEqual(['p', 'worktree:a']);
    expect(laneOf({ workspaceId: 'p', repository: 'libs/ui' })).toEqual(['p', 'repo:libs/ui']);
    expect(laneOf({ workspaceId: 'p', repository: 'r', worktree: 'a' })).toEqual([
      'p',
      'repo:r',
      'worktree:a',
    ]);
    const workspaceInstanceId = '0'.repeat(64);
    expect(laneOf({ workspaceId: 'p', workspaceInstanceId, worktree: 'a' })).toEqual([
      `p@${workspaceInstanceId}`,
      'worktree:a',
    ]);
  });

  it('[L4] has a key that no other lane has', () => {
    fc.assert(
      fc.property(lane, lane, (one, other) => {
        expect(laneKey(one) === laneKey(other)).toBe(same(one, other));
      }),
      { numRuns: 2000 },
    );
  });

  it('gives its fields back', () => {
    fc.assert(
      fc.property(lane, (one) => {
        expect(laneOf(fieldsOfLane(one))).toEqual(one);
      }),
      { numRuns: 2000 },
    );
  });

  it('[L4] has its root first among the keys above it', () => {
    fc.assert(
      fc.property(lane, (each) => {
        const keys = laneKeysFromRoot(each);
        expect(keys[0]).toBe(laneKey(each.slice(0, 1)));
        expect(keys.at(-1)).toBe(laneKey(each));
        expect(keys).toHaveLength(each.length);
      }),
    );
  });

  it('lies beneath another exactly when its key continues the key of that', () => {
    fc.assert(
      fc.property(lane, lane, (one, other) => {
        const beneath = one.length > other.length && same(laneOfSegments(one, other.length), other);
        expect(laneKey(one).startsWith(`${laneKey(other)}/`)).toBe(beneath);
      }),
      { numRuns: 2000 },
    );
  });

  it('survives the wire', () => {
    fc.assert(
      fc.property(lane, (each) => {
        expect(laneSchema.parse(JSON.parse(JSON.stringify(each)))).toEqual(each);
      }),
    );
  });

  it.each([
    [[]],
    [['p', 'x']],
    [['p', 'worktree:a', 'repo:r']],
    [['p\ud800']],
    [['p', 'worktree:a', 'x', 'y']],
  ])('is not %j', (value) => {
    expect(laneSchema.safeParse(value).success).toBe(false);
  });

  it('is told to people as a path', () => {
    expect(describeLane(['p'])).toBe('p');
    expect(describeLane(['p', 'worktree:a'])).toBe('p/.worktrees/a');
    expect(describeLane(['p', 'repo:libs/ui', 'worktree:a'])).toBe('p/libs/ui/.worktrees/a');
  });
});

function laneOfSegments(each: Lane, length: number): Lane {
  return laneSchema.parse(each.slice(0, length));
}

describe('overlap', () => {
  it('[L5] [L6] holds between a lane, itself and everything above and beneath it, and nothing else', () => {
    fc.assert(
      fc.property(lane, lane, (one, other) => {
        const keys = [laneKeysFromRoot(one), laneKeysFromRoot(other)] as const;
        const related = keys[0].includes(laneKey(other)) || keys[1].includes(laneKey(one));
        expect(lanesOverlap(one, other)).toBe(related);
        expect(lanesOverlap(other, one)).toBe(related);
        expect(lanesOverlap(one, one)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('[L5] conflicts a worktree with itself and its root, never with a sibling', () => {
    const claim = (...segments: string[]) => ({ lane: segments, mode: 'exclusive' }) as const;
    expect(callsConflict(claim('p', 'worktree:a'), claim('p', 'worktree:a'))).toBe(true);
    expect(callsConflict(claim('p', 'worktree:a'), claim('p'))).toBe(true);
    expect(callsConflict(claim('p', 'worktree:a'), claim('p', 'worktree:b'))).toBe(false);
    expect(callsConflict(claim('p', 'worktree:a'), claim('p', 'worktree:ab'))).toBe(false);
  });

  it('[L6] conflicts a root with every lane under it, in repositories too', () => {
    const root = { lane: ['p'], mode: 'exclusive' } as const;
    for (const beneath of [['p'], ['p', 'worktree:a'], ['p', 'repo:r'], ['p', 'repo:r', 'worktree:a']]) {
      expect(callsConflict(root, { lane: beneath, mode: 'exclusive' })).toBe(true);
    }
    expect(callsConflict(root, { lane: ['p2', 'worktree:a'], mode: 'exclusive' })).toBe(false);
  });

  it('is no conflict between calls that share, and one where either does not', () => {
    fc.assert(
      fc.property(lane, lane, fc.boolean(), fc.boolean(), (one, other, first, second) => {
        const mode = (exclusive: boolean) => (exclusive ? 'exclusive' : 'shared');
        const conflict = callsConflict({ lane: one, mode: mode(first) }, { lane: other, mode: mode(second) });
        expect(conflict).toBe(lanesOverlap(one, other) && (first || second));
      }),
    );
  });
});
