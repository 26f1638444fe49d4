import { defaultSchedulerSettings, MemoryStore, type SchedulerStore } from '@codelanes/bridge';
import type { Lease } from '@codelanes/protocol';
import { elapsedMs, repeat } from '../measure/repeat.js';
import { median } from '../measure/quantile.js';
import { newCall, registration, settlement, worker } from '../rig/paper-worker.js';
import type { Measured, Row } from '../row.js';

/** Calls of either kind in one round: one long queue, or many short ones. */
const callsPerRound = 1_000;

export const backlog: Row = {
  name: 'backlog',
  what:
    'One call through the store in memory (submit, fetch, report, settle) on one lane, with 1,000 calls submitted ' +
    'before the first is fetched, over the same with 10 (a hundred times). A new store for each; both alternate.',
  unit: '×',
  gate: 1.5,
  goal: null,
  measure,
};

async function measure(rounds: number): Promise<Measured> {
  await repeat(3, round);
  const found = await repeat(rounds, round);
  return {
    rounds: found.map(({ long, short }) => long / short),
    also: {
      'of 1,000, µs per call': median(found.map(({ long }) => long)),
      'of 10, µs per call': median(found.map(({ short }) => short)),
    },
  };
}

async function round(): Promise<{ long: number; short: number }> {
  return { short: await microsecondsPerCall(10), long: await microsecondsPerCall(1_000) };
}

async function microsecondsPerCall(queued: number): Promise<number> {
  const store = new MemoryStore({ ...defaultSchedulerSettings, principalQueueLength: callsPerRound });
  await store.register(registration(2));
  const ms = await elapsedMs(() => repeat(callsPerRound / queued, () => drain(store, queued)));
  await store.close();
  return (ms * 1000) / callsPerRound;
}

/** Submits that many calls, then runs them to their end as the lane lets them, one after the other. */
async function drain(store: SchedulerStore, queued: number): Promise<void> {
  await repeat(queued, () => store.submit(newCall(['primary'], 'ann')));
  for (let settled = 0; settled < queued; settled += 1) {
    const fetched = await store.fetch(worker);
    const [next, ...others] = fetched.ok ? fetched.assignments : [];
    if (next === undefined || others.length > 0) throw new Error('One call at a time was expected.');
    const lease: Lease = { callId: next.callId, generation: next.generation, token: next.token };
    await store.report(worker, [{ ...lease, state: 'started' }]);
    const { accepted } = await store.settle(worker, lease, settlement);
    if (!accepted) throw new Error('A settlement was not accepted.');
  }
}
