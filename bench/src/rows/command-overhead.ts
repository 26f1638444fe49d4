import { join } from 'node:path';
import { WalledLane } from '@codelanes/worker/walled-lane';
import { elapsedMs, repeat } from '../measure/repeat.js';
import { median } from '../measure/quantile.js';
import { withDeployment } from '../rig/deployment.js';
import { withReplicas } from '../rig/replicas.js';
import { createRepository } from '../rig/repository.js';
import type { Serve } from '../rig/serve.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const what =
  'A no-op command (`true`) in a worktree lane through bridge and worker, less the same sandboxed spawn without ' +
  'them: same policy and arguments, by the code of the worker in this process, under no lease, with no journal ' +
  'and no verification. p50 less p50 in each round; calls alternate, ';

/** Calls of either kind in one round. */
const callsPerRound = 96;

export const commandOverhead: Row = {
  name: 'command-overhead',
  what: `${what}one after the other.`,
  unit: 'ms',
  gate: 8,
  goal: 5,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds, ['a'], withDeployment)),
};

export const commandOverheadOnRedis: Row = {
  name: 'command-overhead-on-redis',
  what: `${what}one after the other. Two bridges share a Redis; the caller knows one, the worker the other.`,
  unit: 'ms',
  gate: 12,
  goal: 8,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds, ['a'], withReplicas)),
};

export const commandOverheadOfFour: Row = {
  name: 'command-overhead-of-4',
  what: `${what}four at once in four worktrees, batch by batch. Reported only.`,
  unit: 'ms',
  gate: null,
  goal: null,
  measure: (rounds) =>
    inTemporaryFolder((folder) => measure(folder, rounds, ['a', 'b', 'c', 'd'], withDeployment)),
};

type Kind = (worktree: string) => Promise<unknown>;

async function measure(
  folder: string,
  rounds: number,
  worktrees: readonly string[],
  serve: Serve,
): Promise<Measured> {
  const root = createRepository(folder, 'repo', worktrees);
  const options = { root, stateDir: join(folder, 'walled'), home: join(folder, 'home') };
  const lanes = new Map(worktrees.map((worktree) => [worktree, WalledLane.open({ ...options, worktree })]));
  try {
    return await serve({ state: join(folder, 'state'), roots: [root], slots: 4 }, async (serving) => {
      const caller = serving.caller();
      const through: Kind = (worktree) => caller.run('true', worktree);
      const bare: Kind = (worktree) =>
        lanes.get(worktree)?.run('true') ?? Promise.reject(new Error('no lane'));
      await alternate(worktrees, 64, through, bare);
      const found = await repeat(rounds, () => alternate(worktrees, callsPerRound, through, bare));
      return {
        rounds: found.map((round) => round.through - round.bare),
        also: {
          'through bridge and worker': median(found.map((round) => round.through)),
          'sandboxed spawn': median(found.map((round) => round.bare)),
        },
      };
    });
  } finally {
    for (const lane of lanes.values()) lane.close();
  }
}

/** Medians of both kinds, whose batches alternate; a batch is one call in each worktree, at once. */
async function alternate(worktrees: readonly string[], calls: number, through: Kind, bare: Kind) {
  const batch = (kind: Kind) => Promise.all(worktrees.map((worktree) => elapsedMs(() => kind(worktree))));
  const batches = await repeat(Math.ceil(calls / worktrees.length), async () => ({
    through: await batch(through),
    bare: await batch(bare),
  }));
  return {
    through: median(batches.flatMap((each) => each.through)),
    bare: median(batches.flatMap((each) => each.bare)),
  };
}
