import { join } from 'node:path';
import { elapsedMs, repeat } from '../measure/repeat.js';
import { withDeployment } from '../rig/deployment.js';
import { createRepository } from '../rig/repository.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

export const threeRoots: Row = {
  name: 'three-roots',
  what:
    'Three commands of 15 s at the checkouts of three repositories, which are three roots of one worker with 4 ' +
    'slots, called at once: from the first call to the last answer.',
  unit: 's',
  gate: 15.5,
  goal: 15.2,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds)),
};

async function measure(folder: string, rounds: number): Promise<Measured> {
  const roots = ['one', 'two', 'three'].map((name) => createRepository(folder, name));
  return withDeployment({ state: join(folder, 'state'), roots, slots: 4 }, async (deployment) => {
    const callers = deployment.workspaces.map((workspace) => deployment.caller(workspace));
    const run = (command: string) =>
      Promise.all(
        callers.map((caller) => caller.execute({ operation: 'execute_command', command, timeoutMs: 60_000 })),
      );
    await run('true');
    return { rounds: await repeat(rounds, async () => (await elapsedMs(() => run('sleep 15'))) / 1000) };
  });
}
