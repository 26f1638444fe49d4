import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerOptions } from '@codelanes/worker';
import { repeat } from '../measure/repeat.js';
import { median, quantile } from '../measure/quantile.js';
import { ChildProgram } from '../rig/child-program.js';
import { withDeployment, type Deployment } from '../rig/deployment.js';
import type { Caller } from '../rig/caller.js';
import { isGone, namespaceMembers } from '../rig/processes.js';
import { createRepository } from '../rig/repository.js';
import { inTemporaryFolder } from '../rig/temporary-folder.js';
import type { Measured, Row } from '../row.js';

const killsPerRound = 20;
const children = 50;

export const kill: Row = {
  name: 'kill',
  what:
    `KILL → last process gone: a command with ${children} children in sessions of their own that ignore TERM is ` +
    'cancelled at a worker without a grace. From the sending of the cancellation, which the KILL follows after ' +
    'bridge and worker have passed it on, to the moment when /proc shows none of its processes running. p99 of ' +
    `${killsPerRound} kills, so the slowest one, in each round.`,
  unit: 'ms',
  gate: 150,
  goal: 30,
  measure: (rounds) => inTemporaryFolder((folder) => measure(folder, rounds)),
};

async function measure(folder: string, rounds: number): Promise<Measured> {
  const [idle, root] = [createRepository(folder, 'idle'), createRepository(folder, 'repo', ['a'])];
  return withDeployment({ state: join(folder, 'state'), roots: [idle], slots: 2 }, async (deployment) => {
    const worker = await startWorker(deployment, root, folder);
    try {
      const caller = deployment.caller('repo', 'impatient');
      await killOnce(caller);
      const found = await repeat(rounds, () => repeat(killsPerRound, () => killOnce(caller)));
      return {
        rounds: found.map((times) => quantile(times, 0.99)),
        also: { 'p50 of all': median(found.flat()), 'p99 of all': quantile(found.flat(), 0.99) },
      };
    } finally {
      await worker.stop();
    }
  });
}

function startWorker(deployment: Deployment, root: string, folder: string): Promise<ChildProgram> {
  const options: WorkerOptions = {
    bridgeUrl: deployment.url,
    token: deployment.token('worker'),
    workerId: 'impatient',
    roots: [{ id: 'repo', root, linkedWorktreeLanes: true }],
    stateDir: join(folder, 'impatient'),
    killGraceMs: 0,
    allowRoot: process.getuid?.() === 0,
  };
  return ChildProgram.start('worker-process', options);
}

async function killOnce(caller: Caller): Promise<number> {
  const mark = `mark-${randomBytes(8).toString('hex')}`;
  const callId = randomBytes(16).toString('hex');
  const child = `setsid sh -c 'trap "" TERM INT HUP; while :; do sleep 600; done' ${mark} &`;
  const command = `for i in $(seq ${children}); do ${child} done; wait`;
  const answer = caller.call({ operation: 'execute_command', command, worktree: 'a' }, callId);
  const members = await allStarted(mark);
  const begin = performance.now();
  const cancelled = caller.cancel(callId);
  const end = await goneAt(members);
  await Promise.all([cancelled, answer]);
  return end - begin;
}

/** Waits for every child and its own `sleep`; init, gate and shell come on top. */
async function allStarted(mark: string): Promise<readonly number[]> {
  for (;;) {
    const members = namespaceMembers(mark);
    if (members.length >= 2 * children + 2) return members;
    await sleep(20);
  }
}

async function goneAt(pids: readonly number[]): Promise<number> {
  let left = pids;
  while (left.length > 0) {
    await sleep(1);
    left = left.filter((pid) => !isGone(pid));
  }
  return performance.now();
}
