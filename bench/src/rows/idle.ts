import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { repeat } from '../measure/repeat.js';
import { withDeployment } from '../rig/deployment.js';
import { processorMs } from '../rig/processes.js';
import { createRepository } from '../rig/repository.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const idleMs = 60_000;

export const idle: Row = {
  name: 'idle',
  what:
    'Processor time (user and system, from /proc) of the bridge and the worker of `codelanes up` together while ' +
    'nothing is asked of them, as a share of one core. Each round is 60 s; the worker had served calls before. The ' +
    'first round may hold what start-up left to do.',
  unit: '%',
  gate: 1,
  goal: null,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds)),
};

async function measure(folder: string, rounds: number): Promise<Measured> {
  const roots = [createRepository(folder, 'repo', ['a'])];
  return withDeployment({ state: join(folder, 'state'), roots, slots: 8 }, async (deployment) => {
    const caller = deployment.caller();
    await repeat(20, () => caller.run('true', 'a'));
    const spent = () => deployment.processes.reduce((sum, pid) => sum + processorMs(pid), 0);
    const shares = await repeat(rounds, async () => {
      const [before, begin] = [spent(), performance.now()];
      await sleep(idleMs);
      return (100 * (spent() - before)) / (performance.now() - begin);
    });
    return { rounds: shares };
  });
}
