import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repeat } from '../measure/repeat.js';
import { withReplicas } from '../rig/replicas.js';
import { createRepository } from '../rig/repository.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

/** As long as the worker holds a poll, so that every round sees the same of it. */
const roundMs = 25_000;

export const redisWhenIdle: Row = {
  name: 'redis-when-idle',
  what:
    'Commands per second that two bridges send to their Redis for one worker of 8 slots while nothing is asked of it; ' +
    'scripts count once, whatever they do inside (see the further figure). Each round lasts as long as a poll; the ' +
    'worker had served calls before.',
  unit: 'commands/s',
  gate: 1,
  goal: 0.3,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds)),
};

async function measure(folder: string, rounds: number): Promise<Measured> {
  const roots = [createRepository(folder, 'repo', ['a'])];
  return withReplicas({ state: join(folder, 'state'), roots, slots: 8 }, async ({ caller, redis }) => {
    const calls = caller();
    await repeat(20, () => calls.run('true', 'a'));
    // What the calls above left to do, such as a bridge's last beat for its waiting calls.
    await sleep(10_000);
    const before = await redis.commandsRun();
    const found = await repeat(rounds, () => redis.sentWhile(() => sleep(roundMs)));
    const after = await redis.commandsRun();
    return {
      rounds: found.map((sent) => (sent * 1000) / roundMs),
      also: { 'with what scripts do inside, commands/s': ((after - before) * 1000) / (roundMs * rounds) },
    };
  });
}
