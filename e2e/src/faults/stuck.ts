import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf } from './account.js';
import type { Fleet } from './fleet.js';
import type { Load } from './load.js';

/** Longer than any fault, any wait in the queue and any lease of a campaign, on whatever machine. */
const patienceMs = 60_000;

/**
 * What the doing comes to.
 *
 * @throws Error with an account of all that is known where no piece of work has begun or ended for a minute.
 */
export async function unlessStuck<T>(
  doing: Promise<T>,
  fleet: Fleet,
  load: Load,
  waitMs = patienceMs,
): Promise<T> {
  const over = new AbortController();
  try {
    return await Promise.race([doing, failOnceStuck(fleet, load, waitMs, over.signal)]);
  } finally {
    over.abort();
  }
}

async function failOnceStuck(fleet: Fleet, load: Load, waitMs: number, signal: AbortSignal): Promise<never> {
  for (;;) {
    const leftMs = load.movedAt + waitMs - performance.now();
    if (leftMs <= 0) throw new Error(await accountOf(fleet, load));
    await sleep(leftMs, undefined, { signal });
  }
}
