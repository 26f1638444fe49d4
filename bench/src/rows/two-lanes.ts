import { join } from 'node:path';
import { elapsedMs, repeat } from '../measure/repeat.js';
import { median } from '../measure/quantile.js';
import type { Caller } from '../rig/caller.js';
import { withDeployment } from '../rig/deployment.js';
import { createRepository } from '../rig/repository.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const longCommand = { command: 'sleep 15', timeoutMs: 60_000 };

export const twoLanes: Row = {
  name: 'two-lanes',
  what:
    'Two commands of 15 s in two worktrees of one repository, 2 slots, called at once: from the first call to ' +
    'the last answer. Alternates with the same two commands in one worktree (`oneLane`).',
  unit: 's',
  gate: 15.5,
  goal: 15.2,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds)),
};

async function measure(folder: string, rounds: number): Promise<Measured> {
  const roots = [createRepository(folder, 'repo', ['a', 'b'])];
  return withDeployment({ state: join(folder, 'state'), roots, slots: 2 }, async (deployment) => {
    const caller = deployment.caller();
    await Promise.all(['a', 'b'].map((worktree) => caller.run('true', worktree)));
    const found = await repeat(rounds, async () => ({
      two: await secondsOf(caller, ['a', 'b']),
      one: await secondsOf(caller, ['a', 'a']),
    }));
    return {
      rounds: found.map(({ two }) => two),
      also: {
        oneLane: median(found.map(({ one }) => one)),
        'speed-up, ×': median(found.map(({ one, two }) => one / two)),
      },
    };
  });
}

async function secondsOf(caller: Caller, worktrees: readonly string[]): Promise<number> {
  const { command, timeoutMs } = longCommand;
  const calls = () => Promise.all(worktrees.map((worktree) => caller.run(command, worktree, { timeoutMs })));
  return (await elapsedMs(calls)) / 1000;
}
