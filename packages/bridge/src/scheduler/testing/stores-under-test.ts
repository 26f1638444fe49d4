import { afterAll, afterEach } from 'vitest';
import { ManualClock } from '../manual-clock.js';
import { MemoryStore } from '../memory-store.js';
import { RedisStore } from '../redis-store.js';
import type { SchedulerStore } from '../store.js';
import { defaultSchedulerSettings, type SchedulerSettings } from '../scheduler-settings.js';
import { RedisServer } from './redis-server.js';

export interface StoreOnClock {
  readonly store: SchedulerStore;
  /** Time stands still until a test moves it. */
  readonly clock: ManualClock;
}

/** A store that the suites run against. */
export interface StoreUnderTest {
  readonly name: string;
  /** How many random lives it is put through. */
  readonly lives: number;
  /** An empty store; it is closed after the test. */
  readonly make: (settings?: Partial<SchedulerSettings>) => Promise<StoreOnClock>;
}

let server: Promise<RedisServer> | undefined;
let made = 0;
const open: SchedulerStore[] = [];

/** One Redis serves a file of tests; each store has a prefix of its own in it. */
async function makeRedisStore(settings: SchedulerSettings, clock: ManualClock): Promise<SchedulerStore> {
  server ??= RedisServer.start();
  made += 1;
  const { url } = await server;
  return new RedisStore({
    address: { url },
    prefix: `test-${made}`,
    settings,
    // A clock that jumps leaves no time for beats in between; how bridges die is tested in real time.
    times: { bridgeSilentMs: 1e9 },
    simulatedTime: clock,
  });
}

export const storesUnderTest: readonly StoreUnderTest[] = [
  {
    name: 'memory',
    lives: 60,
    make: (settings) => {
      const clock = new ManualClock();
      const store = new MemoryStore({ ...defaultSchedulerSettings, ...settings }, clock);
      return Promise.resolve({ clock, store });
    },
  },
  {
    name: 'redis',
    lives: 12,
    make: async (settings) => {
      const clock = new ManualClock();
      const store = await makeRedisStore({ ...defaultSchedulerSettings, ...settings }, clock);
      open.push(store);
      return { clock, store };
    },
  },
];

afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});

afterAll(async () => {
  await (await server)?.stop();
});
