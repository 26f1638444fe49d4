import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IdleLimit } from './idle-limit.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a limit on silence', () => {
  it('[T46] is over when nothing was said for that long, however much was said before', () => {
    const limit = new IdleLimit(1_000);
    for (let said = 0; said < 5; said += 1) {
      vi.advanceTimersByTime(999);
      limit.heard();
    }
    expect(limit.isOver).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect([limit.isOver, limit.signal.aborted]).toEqual([true, true]);
  });

  it('is never over where there is none, or when it has ended', () => {
    const [none, ended] = [new IdleLimit(undefined), new IdleLimit(1_000)];
    ended.end();
    vi.advanceTimersByTime(3_600_000);
    expect([none.isOver, ended.isOver]).toEqual([false, false]);
  });
});
