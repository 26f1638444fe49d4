import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { elapsedMs, repeat } from '../measure/repeat.js';
import { median } from '../measure/quantile.js';
import { withEnvironment } from '../rig/environment.js';
import { createRepository } from '../rig/repository.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const pairsPerRound = 120;
const warmUpPairs = 64;

export const preparedLane: Row = {
  name: 'prepared-lane',
  what:
    'A no-op command (`true`) in a worktree lane whose repository declares a setup, which has run, less the same ' +
    'in a repository of the same environment without one, through bridge and worker: what a call pays for the ' +
    'check that its lane is ready. p50 of the differences within pairs of calls, of which now the one and now the ' +
    'other comes first.',
  unit: 'ms',
  gate: 1,
  goal: null,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds)),
};

async function measure(folder: string, rounds: number): Promise<Measured> {
  const root = join(folder, 'src');
  mkdirSync(root);
  for (const name of ['with', 'without']) createRepository(root, name, ['a']);
  const definition = [
    `root: ${root}`,
    'repositories:',
    '  - { path: with, setup: { command: "true" } }',
    '  - { path: without }',
  ];
  return withEnvironment({ folder, definition, slots: 2 }, async (caller) => {
    const run = (repository: string) => elapsedMs(() => caller.run('true', 'a', { repository }));
    // The first of these waits for the setup.
    await inPairs(run, warmUpPairs);
    const found = await repeat(rounds, () => inPairs(run, pairsPerRound));
    return {
      rounds: found.map((pairs) => median(pairs.map((pair) => pair.withSetup - pair.without))),
      also: {
        'with a setup': median(found.flat().map((pair) => pair.withSetup)),
        'without one': median(found.flat().map((pair) => pair.without)),
      },
    };
  });
}

interface Pair {
  readonly withSetup: number;
  readonly without: number;
}

function inPairs(run: (repository: string) => Promise<number>, pairs: number): Promise<Pair[]> {
  let withFirst = false;
  return repeat(pairs, async () => {
    withFirst = !withFirst;
    if (withFirst) return { withSetup: await run('with'), without: await run('without') };
    const without = await run('without');
    return { withSetup: await run('with'), without };
  });
}
