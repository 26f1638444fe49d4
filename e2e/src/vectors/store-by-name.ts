import { defaultSchedulerSettings, ManualClock, MemoryStore, type SchedulerStore } from '@codelanes/bridge';

/** How to make each store that vectors can be replayed through; time stands still in a replay. */
const stores: Readonly<Record<string, () => SchedulerStore>> = {
  memory: () => new MemoryStore(defaultSchedulerSettings, new ManualClock()),
};

export const storeNames = Object.keys(stores);

/** @throws RangeError where no store has that name. */
export function makeStore(name: string): SchedulerStore {
  const make = stores[name];
  if (make === undefined) throw new RangeError(`no store "${name}"; there is ${storeNames.join(', ')}`);
  return make();
}
