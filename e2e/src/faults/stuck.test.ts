import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Fleet } from './fleet.js';
import { Load } from './load.js';
import { Random } from './random.js';
import { unlessStuck } from './stuck.js';
import type { Work } from './work.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let fleet: Fleet;
let load: Load;

beforeEach(async () => {
  fleet = await Fleet.start(
    { bridges: 1, workers: ['worker-1'], callers: 1, slots: 1, filePool: 1 },
    new Random(1),
  );
  load = new Load(fleet.entrance.url, fleet.bridges.tokens);
});
afterEach(async () => {
  load.giveUp();
  await fleet.stop();
});

const lane = { protocolVersion: 1, workspaceId: 'primary', worktree: 'lane-1' };

function work(changes: Partial<Work> = {}): Work {
  const request = { ...lane, operation: 'write_file', path: 'file', content: '1' };
  return { workerId: 'worker-1', caller: 0, isDurable: false, queueWaitMs: 100, request, ...changes };
}

/** What a campaign fails with whose work does not end; nothing of it is sent any more. */
async function accountOfStuck(...works: readonly Promise<unknown>[]): Promise<string> {
  const doing = Promise.all(works);
  const failure: unknown = await unlessStuck(doing, fleet, load, 3_000).catch((error: unknown) => error);
  load.giveUp();
  await expect(doing).rejects.toThrow('given up');
  return String(failure);
}

it('leaves work that ends alone', async () => {
  expect(await unlessStuck(load.see(work()), fleet, load, 30_000)).toBe('done');
});

it('ends work that is sent again and again, with what it was told and who is dead', async () => {
  await fleet.worker('worker-1').child.end('SIGKILL');
  const account = await accountOfStuck(load.see(work()));
  expect(account).toMatch(/^Error: No piece of work began or ended for \d+\.\d s; 1 are under way\.$/m);
  expect(account).toMatch(/worker-1: \{.*"worktree":"lane-1".*\}, for/);
  expect(account).toMatch(/told before: (WORKSPACE_QUEUE_TIMEOUT|WORKER_OFFLINE)/);
  expect(account).toMatch(/worker-1: ended by SIGKILL/);
  expect(account).toMatch(/bridge http:\S+: process \d+ is [A-Z]/);
});

it('ends a durable request that nothing becomes of, with what bridges, worker and Redis know of its call', async () => {
  const command = { operation: 'execute_command', command: 'sleep 200', timeoutMs: 200_000 };
  const endless = load.see(work({ request: { ...lane, ...command } }));
  await vi.waitFor(() => {
    expect(fleet.runs).toHaveLength(1);
  }, 30_000);
  const account = await accountOfStuck(endless, load.see(work({ isDurable: true, queueWaitMs: 200_000 })));
  expect(account).toMatch(/; 2 are under way/);
  expect(account).toMatch(/[0-9a-f]{32} has begun\n.* says: 200 .*"state":"running"/);
  expect(account).toMatch(/worker-1: durable \{/);
  expect(account).toMatch(/[0-9a-f]{32} never began\n.* says: 200 .*"state":"queued"/);
  // What Redis has comes in no order of ours.
  expect(account).toMatch(/^(?: {2}Redis has: )?codelanes:\S+:calls [0-9a-f]{32} = running/m);
  expect(account).toMatch(/^(?: {2}Redis has: )?codelanes:\S+:calls [0-9a-f]{32} = waiting/m);
  expect(account).toMatch(/worker-1: process \d+ is [A-Z]/);
});
