import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { withRedis } from '../rig/redis-server.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import { arrangements } from './arrangements.js';
import { readBusyDay } from './day.js';
import { memoryOnClock, redisOnClock, replay, type StoreOnClock } from './replay.js';

const calls = readBusyDay();

describe('the busy day through the scheduler', () => {
  it.each(arrangements)(
    'loses $modelLoses of 5,744 calls with $name, as the model does',
    async (arrangement) => {
      const { lost, waitsMs } = await closing(memoryOnClock(), (on) => replay(calls, arrangement, on));
      expect(lost).toBe(arrangement.modelLoses);
      expect(waitsMs).toHaveLength(5744 - lost);
    },
  );

  it('goes the same way on Redis, call by call', { timeout: 600_000 }, async () => {
    const [, , fourSlots] = arrangements;
    const inMemory = await closing(memoryOnClock(), (on) => replay(calls, fourSlots, on));
    const onRedis = await inTemporaryFolder((folder) =>
      withRedis(folder, ({ url }) => closing(redisOnClock(url, 'day'), (on) => replay(calls, fourSlots, on))),
    );
    expect(onRedis).toEqual(inMemory);
  });
});

// The original stands beside the repository only where the project is developed.
describe('the calls of the busy day', () => {
  const name = 'vectors/busy-day.jsonl';
  const copy = fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
  const original = fileURLToPath(new URL(`../../../../shared/${name}`, import.meta.url));

  it('are in the order of their arrival', () => {
    const arrivals = calls.map(({ at }) => at);
    expect(arrivals).toEqual([...arrivals].sort((one, other) => one - other));
  });

  it.runIf(existsSync(original))('are a true copy of the shared file', () => {
    expect(readFileSync(copy).equals(readFileSync(original))).toBe(true);
  });
});

async function closing<T>(on: StoreOnClock, work: (on: StoreOnClock) => Promise<T>): Promise<T> {
  try {
    return await work(on);
  } finally {
    await on.store.close();
  }
}
