import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SparingWatch } from './sparing-watch.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('tells once when it holds no more, and never after it was closed', () => {
  let holds = true;
  const onEnd = vi.fn();
  const watch = new SparingWatch(() => holds, onEnd);
  const closed = new SparingWatch(() => false, onEnd);
  closed.close();
  vi.advanceTimersByTime(1_000);
  expect(onEnd).not.toHaveBeenCalled();
  holds = false;
  vi.advanceTimersByTime(1_000);
  expect(onEnd).toHaveBeenCalledOnce();
  watch.close();
});

it('takes a twentieth of the time at most, however long a look takes', () => {
  let spent = 0;
  const slowLook = (): boolean => {
    vi.setSystemTime(Date.now() + 200);
    spent += 200;
    const now = performance.now() + 200;
    vi.spyOn(performance, 'now').mockReturnValueOnce(now);
    return true;
  };
  const watch = new SparingWatch(slowLook, () => undefined);
  vi.advanceTimersByTime(60_000);
  expect(spent).toBeGreaterThan(0);
  expect(spent).toBeLessThanOrEqual(60_000 / 20 + 200);
  watch.close();
});
