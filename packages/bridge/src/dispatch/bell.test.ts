import { expect, it } from 'vitest';
import { Bell } from './bell.js';

const forever = 1_000_000;

it('remembers one ring that nobody waited for', async () => {
  const bell = new Bell();
  bell.ring();
  bell.ring();
  await bell.wait(forever);
  const order: string[] = [];
  const second = bell.wait(forever).then(() => order.push('woken'));
  await Promise.resolve();
  order.push('rings');
  bell.ring();
  await second;
  expect(order).toEqual(['rings', 'woken']);
});

it('ends a wait when its time is over', async () => {
  const bell = new Bell();
  await expect(bell.wait(1)).resolves.toBe(false);
  await expect(bell.wait(0)).resolves.toBe(false);
});

it('rings for a signal that aborts, for one that has, and no more once taken off', async () => {
  const bell = new Bell();
  const controller = new AbortController();
  const takeOff = bell.ringOnAbort(controller.signal);
  const wait = bell.wait(forever);
  controller.abort();
  await wait;
  takeOff();
  bell.ringOnAbort(controller.signal);
  await expect(bell.wait(forever)).resolves.toBe(true);
});
