import { randomBytes } from 'node:crypto';
import { RedisStore } from '@codelanes/bridge';
import { BullmqCycles } from '../cycles/bullmq-cycles.js';
import { CallCycles } from '../cycles/call-cycles.js';
import { cyclesPerSecond, type Cycles } from '../cycles/cycles.js';
import { median } from '../measure/quantile.js';
import { repeat } from '../measure/repeat.js';
import { withRedis, type RedisServer } from '../rig/redis-server.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const concurrencies = [1, 8, 64] as const;
const jobs = { 1: 600, 8: 2_000, 64: 4_000 } as const;
const warmUps = 300;

export const cycles: Row = {
  name: 'cycles',
  what:
    'Submit → reserve → settle per second on the store in Redis, over add → process → complete of BullMQ, in one ' +
    'process each, always with as many under way as run at once: 1, 8 and 64, of which the worst ratio counts. Both ' +
    'alternate on one Redis with its append-only file on (synced once a second, as shipped).',
  unit: '×',
  better: 'more',
  gate: 0.6,
  goal: 1,
  measure: (rounds) => inTemporaryFolder((folder) => withRedis(folder, (redis) => measure(redis, rounds))),
};

type Concurrency = (typeof concurrencies)[number];

async function measure(redis: RedisServer, rounds: number): Promise<Measured> {
  await round(redis);
  const found = await repeat(rounds, () => round(redis));
  const ratios = (at: Concurrency) => found.map((each) => each[at].ours / each[at].theirs);
  return {
    rounds: found.map((_, index) => Math.min(...concurrencies.map((at) => ratios(at)[index] ?? 0))),
    also: Object.fromEntries(
      concurrencies.flatMap((at) => [
        [`ratio at ${at}`, median(ratios(at))],
        [`calls per s at ${at}`, median(found.map((each) => each[at].ours))],
        [`jobs of BullMQ per s at ${at}`, median(found.map((each) => each[at].theirs))],
      ]),
    ),
  };
}

async function round(redis: RedisServer) {
  return { 1: await both(redis, 1), 8: await both(redis, 8), 64: await both(redis, 64) };
}

async function both(redis: RedisServer, at: Concurrency): Promise<{ ours: number; theirs: number }> {
  const store = new RedisStore({ address: { url: redis.url }, prefix: randomBytes(8).toString('hex') });
  return {
    ours: await perSecond(await CallCycles.open(store, at), at),
    theirs: await perSecond(await BullmqCycles.open(redis.port, at), at),
  };
}

async function perSecond(queue: Cycles, at: Concurrency): Promise<number> {
  try {
    await cyclesPerSecond(queue, at, warmUps);
    return await cyclesPerSecond(queue, at, jobs[at]);
  } finally {
    await queue.close();
  }
}
