import { expect, it } from 'vitest';
import { WorkerChanged } from './worker-changed.js';
import { WorkerSights } from './worker-sights.js';

const sights = new WorkerSights(
  { worker: () => Promise.resolve(undefined) },
  { areBesideCalls: true, look: () => Promise.resolve({ standing: undefined, text: undefined }) },
);

/** Enters a call of a worker that changes that many times before it is entered. */
function enterAfter(changes: number): { readonly entered: Promise<string>; readonly turns: () => number } {
  let turns = 0;
  const entered = sights.enter(
    'worker-1',
    () => 'call',
    (call) => {
      turns += 1;
      if (turns <= changes) throw new WorkerChanged('WORKER_MISMATCH', 'It has changed.');
      return Promise.resolve(call);
    },
  );
  return { entered, turns: () => turns };
}

it('judges a call anew where its worker has changed meanwhile', async () => {
  const { entered, turns } = enterAfter(4);
  expect(await entered).toBe('call');
  expect(turns()).toBe(5);
});

it('gives up on a worker that changes again and again, as one that never ran', async () => {
  const { entered, turns } = enterAfter(Infinity);
  await expect(entered).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(turns()).toBe(5);
});
