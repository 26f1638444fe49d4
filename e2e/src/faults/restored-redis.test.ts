import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durableStatusSchema } from '@codelanes/protocol';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Caller, newCallId } from '../rig/caller.js';
import { Child } from '../rig/child.js';
import type { LoggingWorkerOptions } from '../rig/logging-worker.js';
import { Bridges } from './bridges.js';
import { readRuns } from './event-log.js';
import { fleetClocks } from './fleet.js';
import { Random } from './random.js';

/** No lease ends while bridge and Redis are started anew, however long that takes. */
const scheduler = { ...fleetClocks.bridge.scheduler, leaseTtlMs: 120_000 };
const requests = '/v1/workspace-tools/requests';
const waitsFor = { timeout: 60_000, interval: 20 };

let folder: string;
let bridges: Bridges;
let worker: Child;
let caller: Caller;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-restored-'));
  bridges = await Bridges.start({ count: 1, callers: 1, bridge: { ...fleetClocks.bridge, scheduler } });
  const entrance = await bridges.balancer(new Random(71));
  const { tokens } = bridges;
  caller = new Caller(entrance.url, tokens.callers[0] ?? '', tokens.admin);
  const { child } = await Child.start('logging-worker', {
    bridgeUrl: entrance.url,
    access: { token: tokens.worker },
    workerId: 'worker-1',
    slots: 2,
    filePool: 2,
    log: join(folder, 'runs'),
    clocks: fleetClocks.worker,
  } satisfies LoggingWorkerOptions);
  worker = child;
}, 60_000);
afterEach(async () => {
  await worker.end('SIGKILL');
  await bridges.stop();
  rmSync(folder, { recursive: true, force: true });
});

function untilBegun(calls: number): Promise<void> {
  return vi.waitFor(() => {
    expect(readRuns('worker-1', join(folder, 'runs'))).toHaveLength(calls);
  }, waitsFor);
}

const command = { operation: 'execute_command', worktree: 'lane-1', timeoutMs: 200_000 };

it('[T71] ends a durable request that its worker began in seconds which Redis has lost, and frees its lane', async () => {
  const [before, callId] = [newCallId(), newCallId()];
  const first = caller.call({ ...command, command: 'sleep 200' }, { callId: before });
  await untilBegun(1);
  const request = { protocolVersion: 1, workspaceId: 'primary', ...command, command: 'sleep 200' };
  const headers = { 'x-librechat-workspace-request-id': 'request-0123456789' };
  const taken = await caller.send('POST', requests, request, { callId, queueWaitMs: 200_000, headers });
  expect(taken.json).toMatchObject({ state: 'queued' });
  const restore = await bridges.redis.copy();
  await caller.cancel(before);
  expect((await first).status).not.toBe(200);
  await untilBegun(2);
  // Its start has been told: nothing but its end is left to be said of it.
  await caller.until(callId, 'running');
  for (const bridge of bridges.live) await bridges.kill(bridge);
  await bridges.redis.kill();
  await restore();
  await bridges.redis.run();
  await bridges.add();
  await caller.until(callId, 'running');
  await caller.send('DELETE', `${requests}/request-0123456789`);
  await vi.waitFor(async () => {
    const { json } = await caller.send('GET', `${requests}/request-0123456789`);
    expect(durableStatusSchema.parse(json)).toMatchObject({ state: 'cancelled' });
  }, waitsFor);
  expect(await caller.run('sleep 0.01', 'lane-1')).toMatchObject({ exitCode: 0 });
  expect(readRuns('worker-1', join(folder, 'runs'))).toHaveLength(3);
}, 180_000);
