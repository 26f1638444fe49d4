import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workerStatusSchema } from '@codelanes/protocol';
import { ManualClock } from '../scheduler/manual-clock.js';
import { MemoryStore } from '../scheduler/memory-store.js';
import { defaultSchedulerSettings } from '../scheduler/scheduler-settings.js';
import { listenOver } from '../server/testing/serve-store.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { testCapabilities, TestWorker } from '../server/testing/test-worker.js';

const path = '/v1/bridge/workers/worker-1/status';
let bridge: TestBridge;

beforeEach(async () => {
  bridge = await TestBridge.start();
});

afterEach(async () => {
  await bridge.close();
});

describe('the status of a worker', () => {
  it('is offline and not ready where it was never seen', async () => {
    const { status, json } = await bridge.send(path, { as: 'admin' });
    expect(status).toBe(200);
    expect(json).toEqual({ protocolVersion: 1, workerId: 'worker-1', online: false, ready: false });
  });

  it.each(['admin', 'caller'] as const)('tells a token for %s of a worker that is online', async (as) => {
    await TestWorker.registered(bridge);
    const { status, json } = await bridge.send(path, { as });
    expect(status).toBe(200);
    const told = workerStatusSchema.parse(json);
    expect(told).toMatchObject({ online: true, ready: true, maxCommandTimeoutMs: 300_000 });
    expect(told.leaseExpiresInMs).toBeGreaterThan(0);
  });

  it('has the time of a lease only while the worker is online', async () => {
    const clock = new ManualClock();
    const aging = await listenOver(new MemoryStore(defaultSchedulerSettings, clock));
    try {
      await TestWorker.registered(aging);
      clock.advance(defaultSchedulerSettings.leaseTtlMs - 1);
      expect((await aging.send(path, { as: 'admin' })).json).toMatchObject({
        online: true,
        leaseExpiresInMs: 1,
      });
      clock.advance(1);
      const { json } = await aging.send(path, { as: 'admin' });
      expect(json).toEqual({ protocolVersion: 1, workerId: 'worker-1', online: false, ready: false });
      const own = await aging.send(path, { as: 'admin', headers: { 'x-codelanes-client': '1' } });
      expect(own.json).toMatchObject({ online: false, capabilities: testCapabilities() });
      expect(own.json).not.toHaveProperty('leaseExpiresInMs');
    } finally {
      await aging.close();
    }
  });

  it('names no longest command where the worker runs none', async () => {
    const { workspaceTools, ...rest } = testCapabilities();
    const capabilities = {
      ...rest,
      workspaceTools: { ...workspaceTools, operations: ['read_file' as const] },
    };
    await TestWorker.registered(bridge, { capabilities });
    const { json } = await bridge.send(path, { as: 'admin' });
    expect(json).not.toHaveProperty('maxCommandTimeoutMs');
  });

  it('shows LibreChat of generation A no key that it does not know, and our own clients all', async () => {
    await TestWorker.registered(bridge);
    const asLibreChat = await bridge.send(path, { as: 'admin' });
    expect(asLibreChat.text).not.toMatch(/workspaceScopes|sharedReads|commandResultFeatures/);
    const asOwn = await bridge.send(path, { as: 'admin', headers: { 'x-codelanes-client': '1' } });
    expect(asOwn.json['capabilities']).toMatchObject(testCapabilities());
    expect(asOwn.text).toContain('"repositories":[{"path":"app","workspaceId":"primary:app"');
  });
});

describe('the status as generation B sees it', () => {
  it('[L3] has the scope of linked worktrees and not that of repositories', async () => {
    const newer = await TestBridge.start({ clientGeneration: 'B' });
    try {
      await TestWorker.registered(newer);
      const { text } = await newer.send(path, { as: 'admin' });
      expect(text).toContain('"workspaceScopes":["git_linked_worktree"]');
      expect(text).toContain('"commandResultFeatures":["lane_git"]');
    } finally {
      await newer.close();
    }
  });
});
