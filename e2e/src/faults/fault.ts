import { setTimeout as sleep } from 'node:timers/promises';
import { fleetClocks, type Fleet } from './fleet.js';
import type { Random } from './random.js';

/** Longer than a lease, so that whatever the worker held is lost to it. */
const pastLeaseMs = fleetClocks.leaseTtlMs + 700;

/** How old the copy is from which Redis is restored. */
const copyAgeMs = 2_000;

type Fault = (fleet: Fleet, random: Random) => Promise<void>;

/** What is done to a fleet under load, by name. Each is over when everything runs again. */
export const faults = {
  'a bridge is killed': async (fleet, random) => {
    await fleet.bridges.kill(random.pick(fleet.bridges.live));
    await sleep(random.between(0, 1_000));
    await fleet.bridges.add();
  },
  'a worker is cut off past its lease': async (fleet, random) => {
    const { link } = fleet.worker(random.pick(fleet.options.workers));
    link.cut();
    await sleep(pastLeaseMs);
    link.heal();
  },
  'a worker sleeps past its lease': async (fleet, random) => {
    const { child } = fleet.worker(random.pick(fleet.options.workers));
    child.process.kill('SIGSTOP');
    await sleep(pastLeaseMs);
    child.process.kill('SIGCONT');
  },
  'Redis is killed and comes back with its log': async ({ bridges: { redis } }, random) => {
    await redis.kill();
    await sleep(random.between(0, 1_500));
    await redis.run();
  },
  'Redis is restored from an old copy': async ({ bridges: { redis } }) => {
    const restore = await redis.copy();
    await sleep(copyAgeMs);
    await redis.kill();
    await restore();
    await redis.run();
  },
  'Redis forgets its scripts': async ({ bridges: { redis } }) => {
    await redis.ask('SCRIPT', 'FLUSH');
  },
} satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;

export const faultNames = Object.keys(faults).filter((name): name is FaultName => name in faults);
