import { callsConflict, laneKey, laneOf, type Pool } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Holds, type HeldCall } from './holds.js';

const root = laneOf({ workspaceId: 'primary' });
const a = laneOf({ workspaceId: 'primary', worktree: 'a' });
const b = laneOf({ workspaceId: 'primary', worktree: 'b' });
const callIds = Array.from({ length: 16 }, (_, index) => index.toString(16));
let next = 0;
const call = (
  lane: HeldCall['lane'],
  pool: HeldCall['pool'] = 'command',
  mode: HeldCall['mode'] = 'exclusive',
): HeldCall => ({
  callId: `${next++}`,
  lane,
  pool,
  mode,
});
const make = (slots = 4, filePool = 4): Holds => new Holds({ slots, filePool }, () => false);

describe('the worker’s own judgement', () => {
  it('[L5] [L6] [L18] [T74] holds siblings side by side, and nothing beside their checkout', () => {
    const holds = make();
    const first = call(a);
    expect(holds.hold(first)).toBe('accepted');
    expect(holds.hold(call(b))).toBe('accepted');
    expect(holds.hold(call(a))).toBe('busy');
    expect(holds.hold(call(root))).toBe('busy');
    holds.release(first.callId);
    expect(holds.hold(call(a))).toBe('accepted');
  });

  it('lets reads of one lane share it', () => {
    const holds = make();
    expect(holds.hold(call(a, 'file', 'shared'))).toBe('accepted');
    expect(holds.hold(call(root, 'file', 'shared'))).toBe('accepted');
    expect(holds.hold(call(a, 'file'))).toBe('busy');
  });

  it('keeps to its pools, each for itself', () => {
    const holds = make(1, 1);
    expect(holds.hold(call(a))).toBe('accepted');
    expect(holds.judge(call(b))).toBe('busy');
    expect(holds.hold(call(b, 'file'))).toBe('accepted');
    expect(holds.judge(call(laneOf({ workspaceId: 'other' }), 'file'))).toBe('busy');
  });

  it('keeps to the capacity of each lane above a command', () => {
    const capacityOf = (key: string): number | undefined => (key === laneKey(root) ? 1 : undefined);
    const holds = new Holds({ slots: 4, filePool: 4, capacityOf }, () => false);
    expect(holds.hold(call(a))).toBe('accepted');
    expect(holds.judge(call(b))).toBe('busy');
    expect(holds.judge(call(b, 'file'))).toBe('accepted');
    expect(holds.judge(call(laneOf({ workspaceId: 'other' })))).toBe('accepted');
  });

  it('says which calls meet a quarantine, and asks neither lane nor pool for instruction reads', () => {
    const holds = new Holds({ slots: 1, filePool: 1 }, (lane) => laneKey(lane) === laneKey(a));
    expect(holds.judge(call(a))).toBe('quarantined');
    expect(holds.judge(call(a, 'none', 'shared'))).toBe('accepted');
    expect(holds.hold(call(b))).toBe('accepted');
    expect(holds.hold(call(b, 'none', 'shared'))).toBe('accepted');
  });

  it('never holds one call twice', () => {
    const holds = make();
    const one = call(a, 'file', 'shared');
    expect([holds.hold(one), holds.hold(one)]).toEqual(['accepted', 'busy']);
    expect([holds.has(one.callId), holds.release(one.callId), holds.release(one.callId)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('never holds two conflicting calls nor more than the pools, whatever it is handed', () => {
    const name = fc.option(fc.constantFrom('a', 'b'), { nil: undefined });
    const lane = fc
      .record({ workspaceId: fc.constantFrom('p', 'q'), repository: name, worktree: name })
      .map(laneOf);
    const handed = fc.record({
      callId: fc.constantFrom(...callIds),
      lane,
      mode: fc.constantFrom('shared' as const, 'exclusive' as const),
      pool: fc.constantFrom<Pool>('command', 'file'),
    });
    const step = fc.oneof(
      handed.map((held) => ({ hold: held })),
      fc.constantFrom(...callIds).map((callId) => ({ release: callId })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const holds = make(3, 2);
        for (const one of steps) {
          if ('release' in one) holds.release(one.release);
          else holds.hold(one.hold);
          const held = holds.listHeld();
          const pairs = held.flatMap((x, index) => held.slice(index + 1).map((y) => [x, y] as const));
          expect(pairs.filter(([x, y]) => callsConflict(x, y))).toEqual([]);
          expect(held.filter(({ pool }) => pool === 'command').length).toBeLessThanOrEqual(3);
          expect(held.filter(({ pool }) => pool === 'file').length).toBeLessThanOrEqual(2);
        }
      }),
    );
  });
});
