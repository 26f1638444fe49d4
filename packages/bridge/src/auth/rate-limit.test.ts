import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimit, RateLimited } from './rate-limit.js';

function limitAt(calls: number, windowMs: number) {
  let now = 1_000;
  const limit = new RateLimit({ calls, windowMs }, () => now);
  return {
    pass: (ms: number) => {
      now += ms;
    },
    /** Milliseconds to wait, 0 where the call may go. */
    take: (principal = 'ann') => {
      try {
        limit.take(principal);
        return 0;
      } catch (error) {
        if (error instanceof RateLimited) return error.retryAfterMs;
        throw error;
      }
    },
  };
}

describe('RateLimit', () => {
  it('lets all calls of a window come at once, then says how long the next one waits', () => {
    const { take, pass } = limitAt(3, 30_000);
    expect([take(), take(), take()]).toEqual([0, 0, 0]);
    expect(take()).toBe(10_000);
    pass(9_000);
    expect(take()).toBe(1_000);
    pass(1_000);
    expect(take()).toBe(0);
  });

  it('counts each principal by itself', () => {
    const { take } = limitAt(1, 1_000);
    expect([take('ann'), take('bob')]).toEqual([0, 0]);
    expect(take('ann')).toBeGreaterThan(0);
  });

  it('costs a refused call nothing, so that asking on does not prolong the wait', () => {
    const { take, pass } = limitAt(1, 1_000);
    take();
    for (let asked = 0; asked < 100; asked += 1) take();
    pass(1_000);
    expect(take()).toBe(0);
  });

  it('never lets more through than twice the bucket in any window, and never stops who keeps to the rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 }),
        (calls, gaps) => {
          const { take, pass } = limitAt(calls, 1_000);
          const passed: number[] = [];
          let now = 0;
          for (const gap of gaps) {
            now += gap;
            pass(gap);
            if (take() === 0) passed.push(now);
          }
          for (const from of passed) {
            const within = passed.filter((at) => at >= from && at < from + 1_000).length;
            if (within > 2 * calls) return false;
          }
          return true;
        },
      ),
    );
    const steady = limitAt(600, 30_000);
    const waits = Array.from({ length: 2_000 }, () => {
      steady.pass(50);
      return steady.take();
    });
    expect(waits.every((ms) => ms === 0)).toBe(true);
  });
});
