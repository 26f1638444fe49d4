import { once } from 'node:events';
import { expect, it } from 'vitest';
import { withinTime } from './within-time.js';

const untilAborted = async (signal: AbortSignal): Promise<unknown> => {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason;
};

it('gives the result of work that ends in time, and leaves nothing behind', async () => {
  const outer = new AbortController();
  let given: AbortSignal | undefined;
  const result = await withinTime(60_000, outer.signal, (signal) => {
    given = signal;
    return Promise.resolve('done');
  });
  outer.abort();
  expect([result, given?.aborted]).toEqual(['done', false]);
});

it('tells work by a TimeoutError that its time is over', async () => {
  expect(await withinTime(1, undefined, untilAborted)).toMatchObject({ name: 'TimeoutError' });
});

it('passes on why work is not wanted any more, also where that was so before', async () => {
  const outer = new AbortController();
  const reason = withinTime(60_000, outer.signal, untilAborted);
  outer.abort('not wanted');
  expect(await reason).toBe('not wanted');
  expect(await withinTime(60_000, outer.signal, untilAborted)).toBe('not wanted');
});

it('rejects as the work does', async () => {
  const failure = new Error('the work failed');
  await expect(withinTime(60_000, undefined, () => Promise.reject(failure))).rejects.toBe(failure);
});
