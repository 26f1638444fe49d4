import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { elapsedMs, repeat } from '../measure/repeat.js';
import { withEnvironment } from '../rig/environment.js';
import { createRepository } from '../rig/repository.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

export const threeRepositories: Row = {
  name: 'three-repositories',
  what:
    'Three commands of 15 s at the checkouts of three repositories of one environment, of a worker with 4 slots, ' +
    'called at once: from the first call to the last answer.',
  unit: 's',
  gate: 15.5,
  goal: 15.2,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds)),
};

async function measure(folder: string, rounds: number): Promise<Measured> {
  const root = join(folder, 'src');
  mkdirSync(root);
  const repositories = ['one', 'two', 'three'];
  for (const name of repositories) createRepository(root, name);
  const definition = [
    `root: ${root}`,
    'repositories:',
    ...repositories.map((name) => `  - { path: ${name} }`),
  ];
  return withEnvironment({ folder, definition, slots: 4 }, async (caller) => {
    const run = (command: string) =>
      Promise.all(
        repositories.map((repository) =>
          caller.execute({ operation: 'execute_command', command, timeoutMs: 60_000, repository }),
        ),
      );
    await run('true');
    return { rounds: await repeat(rounds, async () => (await elapsedMs(() => run('sleep 15'))) / 1000) };
  });
}
