import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomInt } from 'node:crypto';

/** A word that no other process of this machine has in its command line. */
export function newMarker(): string {
  return `${randomInt(1e5, 1e6)}.${randomInt(1e8, 1e9)}`;
}

/**
 * The live processes whose command line holds that word, as the kernel tells it: sandboxes and all that runs in
 * them. Node's own processes (bridge, worker, command line) are left out, as a call's text may stand in theirs.
 */
export function processesWith(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const words = commandLineOf(pid);
      return words.includes(marker) && !words.startsWith(process.execPath);
    })
    .map(Number);
}

/** Waits until nothing with that word lives; a test's own time-out bounds it. */
export async function untilGone(marker: string): Promise<void> {
  while (processesWith(marker).length > 0) await sleep(5);
}

/** Waits until `sleep <marker>` itself runs, which no text of a call can be taken for; answers its pid. */
export async function untilSleeping(marker: string): Promise<number> {
  for (;;) {
    const sleeper = processesWith(marker).find((pid) => commandLineOf(String(pid)) === `sleep\0${marker}\0`);
    if (sleeper !== undefined) return sleeper;
    await sleep(5);
  }
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    // It ended between the two looks.
    return '';
  }
}
