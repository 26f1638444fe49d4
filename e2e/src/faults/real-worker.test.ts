import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerOptions } from '@codelanes/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Child } from '../rig/child.js';
import { quickClocks } from '../rig/deployment.js';
import { Repository } from '../rig/repository.js';
import type { Balancer } from './balancer.js';
import { Bridges } from './bridges.js';
import { violationsOf } from './checker.js';
import type { Run } from './event-log.js';
import { Load } from './load.js';
import { Random } from './random.js';
import type { Work } from './work.js';

const random = new Random(4_174);
const lanes = ['a', 'b', 'c'] as const;
const slots = 2;

let repository: Repository;
let bridges: Bridges;
let link: Balancer;
let worker: Child;

beforeAll(async () => {
  repository = Repository.create(...lanes);
  bridges = await Bridges.start({ count: 2, callers: 3, bridge: quickClocks.bridge });
  link = await bridges.balancer(random);
  const { child } = await Child.start('worker', {
    bridgeUrl: link.url,
    token: bridges.tokens.worker,
    workerId: 'w1',
    roots: [{ id: 'primary', root: repository.root, linkedWorktreeLanes: true }],
    slots,
    stateDir: `${repository.folder}/state`,
    home: repository.folder,
    allowRoot: true,
    ...quickClocks.worker,
  } satisfies WorkerOptions);
  worker = child;
});
afterAll(async () => {
  await worker.end('SIGKILL');
  await bridges.stop();
  repository.remove();
});

/**
 * A command that writes into a file of its lane when it began, that it lives, and when it ended, by the clock of the
 * machine in microseconds. What is killed leaves no end, so its last sign of life stands for that.
 */
function loggingCommand(id: string, steps: number): string {
  const line = (what: string) => `echo "${id} ${what} $EPOCHREALTIME" >>runs.log`;
  const living = `i=0; while [ $((i+=1)) -le ${steps} ]; do ${line('lives')}; sleep 0.01; done`;
  return `${line('begins')}; ${living}; ${line('ends')}`;
}

/** Numbers the work, as a command does not know the id of its call. */
function runsIn(worktree: string | undefined): (Run & { readonly work: string })[] {
  const file = repository.path('runs.log', worktree);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  const runs: (Run & { readonly work: string })[] = [];
  for (const [work = '', what, time = ''] of lines.map((line) => line.split(' '))) {
    const at = BigInt(time.replace(/[.,]/, ''));
    const known = runs.findLastIndex((run) => run.work === work);
    const run = runs[known];
    if (what === 'begins' || run === undefined) {
      const call = { worker: 'w1', callId: work, operation: 'execute_command', worktree };
      runs.push({ work, ...call, begin: at, end: at, isWhole: false });
    } else runs[known] = { ...run, end: at, isWhole: what === 'ends' };
  }
  return runs;
}

it('[T71] [T74] walled commands of a real worker meet none of another, whatever befalls bridges, Redis and worker', async () => {
  const load = new Load((await bridges.balancer(random)).url, { ...bridges.tokens });
  const state = { works: 0, isOver: false };
  const next = (): Work | undefined => {
    if (state.isOver) return undefined;
    state.works += 1;
    return workOf(`work-${state.works}`);
  };
  const working = Promise.all(Array.from({ length: 6 }, () => load.stream(next)));
  for (const fault of [killBridge, cutWorker, rewindRedis, stopWorker, killBridge, flushScripts]) {
    await sleep(random.between(200, 600));
    await fault();
  }
  state.isOver = true;
  await working;
  const runs = [undefined, ...lanes].flatMap(runsIn);
  expect(runs.length).toBeGreaterThan(20);
  // Work is sent again only where it never ran: so of each there is one run at most, and its id can stand for its call.
  const sent = new Set(runs.map(({ work }) => work));
  const told = [...sent].map((callId) => ({ callId, outcome: 'unknown' as const, words: 'see the calls' }));
  const pools = { commands: slots, files: 16 };
  expect(violationsOf({ sent, told, runs, pools, stuckLanes: [], lastingKeys: [] })).toEqual([]);
  expect(load.told.filter(({ outcome }) => outcome === 'odd')).toEqual([]);
  expect(load.told.filter(({ outcome }) => outcome === 'done').length).toBeLessThanOrEqual(
    runs.filter(({ isWhole }) => isWhole).length,
  );
  for (const worktree of [...lanes, undefined]) {
    expect(await load.see({ ...workOf('after'), request: requestOf('true', worktree) })).toBe('done');
  }
}, 180_000);

function workOf(id: string): Work {
  const worktree = random.chance(0.1) ? undefined : random.pick(lanes);
  const request = requestOf(loggingCommand(id, random.between(1, 15)), worktree);
  return {
    workerId: 'w1',
    caller: random.between(0, 2),
    isDurable: random.chance(0.2),
    queueWaitMs: 20_000,
    request,
  };
}

function requestOf(command: string, worktree: string | undefined): Work['request'] {
  const lane = worktree === undefined ? {} : { worktree };
  return { protocolVersion: 1, workspaceId: 'primary', operation: 'execute_command', command, ...lane };
}

async function killBridge(): Promise<void> {
  await bridges.kill(random.pick(bridges.live));
  await bridges.add();
}

/** Longer than a lease, each. */
const pastLeaseMs = quickClocks.bridge.scheduler.leaseTtlMs + 500;

async function cutWorker(): Promise<void> {
  link.cut();
  await sleep(pastLeaseMs);
  link.heal();
}

async function stopWorker(): Promise<void> {
  worker.process.kill('SIGSTOP');
  await sleep(pastLeaseMs);
  worker.process.kill('SIGCONT');
}

async function rewindRedis(): Promise<void> {
  const restore = await bridges.redis.copy();
  await sleep(2_000);
  await bridges.redis.kill();
  await restore();
  await bridges.redis.run();
}

async function flushScripts(): Promise<void> {
  await bridges.redis.ask('SCRIPT', 'FLUSH');
}
