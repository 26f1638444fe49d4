import {
  defaultSchedulerSettings,
  ManualClock,
  MemoryStore,
  RedisStore,
  type SchedulerStore,
} from '@codelanes/bridge';
import { RedisServer } from '../rig/redis-server.js';

/** Makes empty stores of one kind, and ends what they need. Time stands still in them. */
export interface StoreMaker {
  make(): SchedulerStore;
  close(): Promise<void>;
}

const makers: Readonly<Record<string, () => Promise<StoreMaker>>> = {
  memory: () =>
    Promise.resolve({
      make: () => new MemoryStore(defaultSchedulerSettings, new ManualClock()),
      close: () => Promise.resolve(),
    }),
  redis: makerOnRedis,
};

export const storeNames = Object.keys(makers);

/** @throws RangeError where no store has that name. */
export async function storeMaker(name: string): Promise<StoreMaker> {
  const start = makers[name];
  if (start === undefined) throw new RangeError(`no store "${name}"; there is ${storeNames.join(', ')}`);
  return start();
}

/** All stores share one Redis, each under a prefix of its own. */
async function makerOnRedis(): Promise<StoreMaker> {
  const server = await RedisServer.start();
  let made = 0;
  return {
    make: () => {
      made += 1;
      return new RedisStore({
        address: { url: server.url },
        prefix: `replay-${made}`,
        simulatedTime: new ManualClock(),
      });
    },
    close: () => server.stop(),
  };
}
