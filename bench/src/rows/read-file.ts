import { join } from 'node:path';
import { elapsedMs, repeat } from '../measure/repeat.js';
import { median } from '../measure/quantile.js';
import { withDeployment } from '../rig/deployment.js';
import { createRepository } from '../rig/repository.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const readsPerRound = 300;
/** After so many the figures of a round do not fall any more from one to the next. */
const warmUpReads = 2_000;

export const readFile: Row = {
  name: 'read-file',
  what:
    '`read_file` of 4 KiB in a worktree lane through bridge and worker, one after the other: p50 of call to whole ' +
    'answer. Alternates with the status route of the same bridge (`status`), which is what any request costs.',
  unit: 'ms',
  gate: 3,
  goal: 2,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds)),
};

async function measure(folder: string, rounds: number): Promise<Measured> {
  const roots = [createRepository(folder, 'repo', ['a'])];
  return withDeployment({ state: join(folder, 'state'), roots, slots: 2 }, async (deployment) => {
    const caller = deployment.caller();
    const read = () => caller.execute({ operation: 'read_file', path: 'four-kib.txt', worktree: 'a' });
    const alternate = (times: number) =>
      repeat(times, async () => ({
        read: await elapsedMs(read),
        status: await elapsedMs(() => caller.status()),
      }));
    // Every path is compiled by the time that counts.
    await alternate(warmUpReads);
    const found = await repeat(rounds, async () => {
      const pairs = await alternate(readsPerRound);
      return {
        read: median(pairs.map((pair) => pair.read)),
        status: median(pairs.map((pair) => pair.status)),
      };
    });
    return {
      rounds: found.map((round) => round.read),
      also: { status: median(found.map((round) => round.status)) },
    };
  });
}
