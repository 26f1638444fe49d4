import type { Lane } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { done, WorkerAtStore } from './testing/worker-at-store.js';
import { storesUnderTest, type StoreOnClock } from './testing/stores-under-test.js';

const lane = fc.constantFrom<Lane>(
  ['primary'],
  ['primary', 'repo:a'],
  ['primary', 'repo:a', 'worktree:x'],
  ['primary', 'repo:b'],
);

const round = fc.record({
  /** Lane and principal of each call that is submitted in the round. */
  submitted: fc.array(fc.tuple(lane, fc.constantFrom('ann', 'bob')), { maxLength: 6 }),
  /** How many of what runs end in it. */
  settled: fc.nat(4),
});
type Round = typeof round extends fc.Arbitrary<infer T> ? T : never;

/** What happens when each round's settlements and submissions are asked for in one turn, or one after the other. */
async function live(on: StoreOnClock, rounds: readonly Round[], together: boolean): Promise<unknown[]> {
  const worker = new WorkerAtStore(on);
  await worker.register({ slots: 3 });
  const names = new Map<string, string>();
  const running: string[] = [];
  const seen: unknown[] = [];
  for (const [index, { submitted, settled }] of rounds.entries()) {
    const ending = running.splice(0, settled);
    const known = [...names.keys()];
    const calls = submitted.map(([place, principal]) => worker.newCall(place, { principal }));
    calls.forEach(({ callId }, place) => names.set(callId, `${index}.${place}`));
    const asked = [
      ...ending.map((callId) => () => on.store.settle(worker.fence, worker.lease(callId), done)),
      ...calls.map((call) => () => on.store.submit(call)),
      ...ending.map((callId) => () => on.store.end(callId)),
      ...known.map((callId) => () => on.store.call(callId).then((owned) => owned?.view.state)),
    ];
    if (together) seen.push(await Promise.all(asked.map((ask) => ask())));
    else for (const ask of asked) seen.push(await ask());
    const fetched = await worker.fetch();
    running.push(...fetched.calls);
    seen.push(fetched.calls.map((callId) => names.get(callId)));
    await worker.report('started', ...fetched.calls);
  }
  return seen.flat();
}

describe.each(storesUnderTest)('$name: transitions that are asked for in one turn', ({ make, lives }) => {
  it('do what they do one after the other, in the order in which they were asked for', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 8 }), async (rounds) => {
        const [together, apart] = [await make(), await make()];
        expect(await live(together, rounds, true)).toEqual(await live(apart, rounds, false));
      }),
      { numRuns: lives },
    );
  });
});
