import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { endsWithin } from './ends-within.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new Promise(() => undefined);

it('tells work that ends in time from work that does not, and leaves no timer behind', async () => {
  const [ended, late] = [endsWithin(Promise.resolve('done'), 1_000), endsWithin(never, 1_000)];
  expect(await ended).toBe(true);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(await late).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

it('rejects as the work does', async () => {
  const failure = new Error('the work failed');
  await expect(endsWithin(Promise.reject(failure), 1_000)).rejects.toBe(failure);
});
