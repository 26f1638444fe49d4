import { expect, it } from 'vitest';
import { ManualClock } from '../manual-clock.js';
import { Withdrawals } from './withdrawals.js';

it('takes out once more what has left the queue within a minute, and nothing that bears the id of an older one', async () => {
  const clock = new ManualClock();
  const again: string[] = [];
  const withdrawals = new Withdrawals(clock, (workerId, callId) => {
    again.push(`${callId} at ${workerId}`);
    return Promise.resolve();
  });
  withdrawals.note('worker', 'first');
  withdrawals.note('worker', 'second');
  clock.advance(40_000);
  withdrawals.note('worker', 'first');
  await withdrawals.repeat();
  expect(again.splice(0)).toEqual(['second at worker', 'first at worker']);
  clock.advance(20_000);
  await withdrawals.repeat();
  expect(again.splice(0)).toEqual(['first at worker']);
  clock.advance(40_000);
  await withdrawals.repeat();
  expect(again).toEqual([]);
});
