import { randomBytes } from 'node:crypto';
import { defaultSchedulerSettings, RedisStore } from '@codelanes/bridge';
import { QueueCycles } from '../cycles/queue-cycles.js';
import { median } from '../measure/quantile.js';
import { elapsedMs, repeat } from '../measure/repeat.js';
import { withRedis, type RedisServer } from '../rig/redis-server.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const cyclesPerRound = 300;
const settings = { ...defaultSchedulerSettings, queueLength: 2_000, principalQueueLength: 2_000 };

export const queueLength: Row = {
  name: 'queue-length',
  what:
    'One call through the store in Redis (one ends, another starts in its place, one more is submitted) while 1,000 ' +
    'calls wait in 40 lanes for 8 slots, over the same while 10 wait. Both alternate, on stores that stay.',
  unit: '×',
  gate: 2,
  goal: 1.3,
  measure: (rounds) => inTemporaryFolder((folder) => withRedis(folder, (redis) => measure(redis, rounds))),
};

async function measure(redis: RedisServer, rounds: number): Promise<Measured> {
  const open = (waiting: number) => {
    const prefix = randomBytes(8).toString('hex');
    return QueueCycles.open(new RedisStore({ address: { url: redis.url }, prefix, settings }), waiting);
  };
  const [long, short] = [await open(1_000), await open(10)];
  try {
    const round = async () => {
      const times = await repeat(cyclesPerRound, async () => ({
        long: await elapsedMs(() => long.cycle()),
        short: await elapsedMs(() => short.cycle()),
      }));
      return { long: median(times.map((time) => time.long)), short: median(times.map((time) => time.short)) };
    };
    await round();
    const found = await repeat(rounds, round);
    return {
      rounds: found.map((each) => each.long / each.short),
      also: {
        'while 1,000 wait, ms': median(found.map((each) => each.long)),
        'while 10 wait, ms': median(found.map((each) => each.short)),
      },
    };
  } finally {
    await Promise.all([long.close(), short.close()]);
  }
}
