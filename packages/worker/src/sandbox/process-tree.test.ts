import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { hostProcesses } from '../lanes/processes.js';
import { descendantsOf, endSandbox } from './process-tree.js';

it('finds every process that descends from one, parents first', async () => {
  const child = spawn('/bin/sh', ['-c', '(sleep 100 & sleep 100 & echo; wait) & wait'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    await once(child.stdout, 'data');
    const { pid = 0 } = child;
    const found = descendantsOf(pid);
    expect(found).toHaveLength(3);
    expect(descendantsOf(found[0] ?? 0)).toEqual(found.slice(1));
  } finally {
    for (const pid of descendantsOf(child.pid ?? 0)) process.kill(pid, 'SIGKILL');
    child.kill('SIGKILL');
  }
});

it('finds them however deep they stand', () => {
  const deepest = 200_000;
  const one = descendantsOf(0, (pid) => (pid < deepest ? [pid + 1] : []));
  expect([one.length, one.at(-1)]).toEqual([deepest, deepest]);
});

it('says that what does not leave is not gone when its time is over, and that it is once it has left', async () => {
  const child = spawn('/bin/sleep', ['100'], { stdio: 'ignore' });
  const init = hostProcesses.identify(child.pid ?? 0);
  if (init === undefined) throw new Error('It has not begun.');
  const stays = { init, kill: () => undefined, graceMs: 0, goneWithinMs: 50 };
  expect(await endSandbox(stays)).toBe(false);
  const leaves = { ...stays, kill: () => child.kill('SIGKILL'), goneWithinMs: 60_000 };
  expect(await endSandbox(leaves)).toBe(true);
});
