import { expect, it } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { SystemClock } from './system-clock.js';

it('a manual clock stands still until it is moved, and calls every timer at its own time', () => {
  const clock = new ManualClock();
  const calls: [string, number][] = [];
  clock.after(20, () => calls.push(['late', clock.now()]));
  clock.after(10, () => {
    calls.push(['early', clock.now()]);
    clock.after(5, () => calls.push(['nested', clock.now()]));
  });
  const cancel = clock.after(12, () => calls.push(['cancelled', clock.now()]));
  cancel();
  expect(calls).toEqual([]);
  clock.advance(30);
  expect(calls).toEqual([
    ['early', 10],
    ['nested', 15],
    ['late', 20],
  ]);
  expect(clock.now()).toBe(30);
});

it('the system clock never goes back, calls back once, and can be told not to', async () => {
  const clock = new SystemClock();
  const before = clock.now();
  const calls: string[] = [];
  const cancel = clock.after(1, () => calls.push('cancelled'));
  cancel();
  const keepsTheTestAlive = setInterval(() => undefined, 1_000);
  await new Promise<void>((resolve) => {
    clock.after(5, resolve);
  });
  clearInterval(keepsTheTestAlive);
  expect(calls).toEqual([]);
  expect(clock.now()).toBeGreaterThanOrEqual(before);
});
