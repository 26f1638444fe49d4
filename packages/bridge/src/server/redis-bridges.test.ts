import { durableStatusSchema } from '@codelanes/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { BridgesOnRedis } from './testing/bridges-on-redis.js';
import { pathRouter } from './testing/path-router.js';
import { commandBody, commandIn, execute, untilQueued } from './testing/requests.js';
import type { Answer } from './testing/test-bridge.js';
import { TestBridge } from './testing/test-bridge.js';
import { testCapabilities, TestWorker } from './testing/test-worker.js';

const bridges = BridgesOnRedis.prepare({ laneRouter: pathRouter });
let one: TestBridge;
let other: TestBridge;
let worker: TestWorker;

beforeEach(async () => {
  ({ one, other, worker } = await bridges.startTwo());
});

function request(id: string) {
  return { headers: { 'x-librechat-workspace-request-id': id } };
}

function submit(bridge: TestBridge, id: string, body: object = commandIn('a')): Promise<Answer> {
  return bridge.send('/v1/workspace-tools/requests', { as: 'caller', body, ...request(id) });
}

describe('two bridges of one Redis', () => {
  it('run a call that came to one and was fetched at the other, and both list its worker', async () => {
    const answer = execute(other, commandBody());
    const assignment = await worker.next();
    await worker.settleCommand(assignment, 'hello');
    expect((await answer).json).toMatchObject({ stdout: 'hello' });
    const listed = await other.send('/v1/bridge/workers', { as: 'admin' });
    expect(listed.json).toEqual({ workers: ['worker-1'] });
    const metrics = await other.send('/metrics', { as: 'admin', isText: true });
    expect(metrics.text).toContain(
      'codelanes_running_calls{worker="worker-1",pool="command",operation="execute_command"} 0\n',
    );
    // A Redis that takes its time to answer counts as away.
    await expect.poll(async () => (await other.send('/readyz')).json).toEqual({ ready: true });
  });

  it('are not ready, and refuse calls as retryable, while Redis cannot be reached', async () => {
    await bridges.server.kill();
    try {
      expect((await one.send('/readyz')).json['code']).toBe('STORE_UNAVAILABLE');
      expect((await one.send('/healthz')).status).toBe(200);
      expect((await one.send('/metrics', { as: 'admin', isText: true })).status).toBe(200);
    } finally {
      await bridges.server.run();
    }
    await expect.poll(async () => (await one.send('/readyz')).status).toBe(200);
  });

  it('offer durable requests, of which either tells in the words of LibreChat', async () => {
    const offered = await other.send('/v1/workspace-tools/capabilities', { as: 'caller' });
    expect(offered.json).toEqual({ durableWorkspaceRequests: 1 });
    const running = execute(one, commandIn('a'));
    const first = await worker.next();
    const id = 'request-0123456789';
    const taken = await submit(one, id);
    expect(taken.status).toBe(202);
    expect(taken.json).toEqual({
      requestId: id,
      state: 'queued',
      workerId: 'worker-1',
      workspaceId: 'primary',
      worktree: 'a',
      queuePosition: 1,
      queueWaitMs: 30_000,
      cancelRequested: false,
    });
    expect((await submit(other, id)).json).toEqual(taken.json);
    expect(await submit(other, id, commandIn('b'))).toMatchObject({
      status: 409,
      json: { code: 'REQUEST_CONFLICT' },
    });
    const path = `/v1/workspace-tools/requests/${id}`;
    const own = { as: 'caller', headers: { 'x-codelanes-client': '1' } } as const;
    const seen = durableStatusSchema.parse((await other.send(path, own)).json);
    expect(seen.waitingFor?.blockers).toMatchObject([{ callId: first.callId }]);
    expect(seen.queuePosition).toBe(1);
    expect(seen.sinceMs).toBeGreaterThanOrEqual(0);
    expect(await other.send(path, { as: 'otherCaller' })).toMatchObject({
      status: 404,
      json: { code: 'REQUEST_NOT_FOUND' },
    });
    await worker.settleCommand(first);
    expect((await running).status).toBe(200);
    const second = await worker.next();
    expect((await one.send(path, { as: 'caller' })).json['state']).toBe('admitted');
    await worker.settleCommand(second, 'hello');
    const completed = await other.send(path, { as: 'caller' });
    expect(completed.json).toMatchObject({ state: 'completed', result: { stdout: 'hello' } });
    expect((await one.send(path, { as: 'caller' })).json).toEqual(completed.json);
  });

  it('hand a durable request that Redis lost to the worker as the same call, when it is sent again', async () => {
    const id = 'request-0123456789';
    const taken = await submit(one, id);
    const { callId } = await worker.next();
    expect(taken.headers['x-codelanes-call-id']).toBe(callId);
    await bridges.server.ask((client) => client.flushall());
    const again = await TestWorker.registered(other);
    const path = `/v1/workspace-tools/requests/${id}`;
    expect((await other.send(path, { as: 'caller' })).status).toBe(404);
    expect((await submit(other, id)).status).toBe(202);
    expect((await again.next()).callId).toBe(callId);
  });

  it('route durable requests by path, and tell of them with the paths that were sent', async () => {
    const capabilities = testCapabilities();
    for (const workspace of capabilities.workspaceTools.workspaces) workspace.laneRouting = 'by-path';
    const routed = await TestWorker.registered(one, { id: 'worker-2', capabilities });
    const id = 'request-by-its-path';
    const headers = { ...request(id).headers, 'x-librechat-code-worker-id': 'worker-2' };
    const envelope = { protocolVersion: 1, operation: 'list_files', workspaceId: 'primary' } as const;
    const body = { ...envelope, path: '.worktrees/a/src' };
    const taken = await one.send('/v1/workspace-tools/requests', { as: 'caller', body, headers });
    expect(taken).toMatchObject({ status: 202 });
    expect(taken.json).not.toHaveProperty('worktree');
    const assignment = await routed.next();
    expect(assignment).toMatchObject({ lane: ['primary', 'worktree:a'], request: { path: 'src' } });
    const result = { ...envelope, paths: ['src/x.ts'], truncated: false };
    await routed.settle(assignment, { status: 'fulfilled', result });
    const path = `/v1/workspace-tools/requests/${id}`;
    const told = await other.send(path, { as: 'caller' });
    expect(told.json).toMatchObject({ state: 'completed', result: { paths: ['.worktrees/a/src/x.ts'] } });
    const own = { as: 'caller', headers: { 'x-codelanes-client': '1' } } as const;
    expect((await other.send(path, own)).json).toMatchObject({
      worktree: 'a',
      result: { paths: ['.worktrees/a/src/x.ts'] },
    });
    // What it lies in has no lanes any more.
    await routed.register({ takeOver: true });
    const again = await other.send('/v1/workspace-tools/requests', { as: 'caller', body, headers });
    expect(again).toMatchObject({ status: 202, json: { state: 'completed' } });
  });

  it('see a durable request through although the bridge that took it in stops meanwhile', async () => {
    const taken = await submit(one, 'request-0123456789');
    expect(taken.json['state']).toBe('admitted');
    const here = await TestWorker.registered(other, { id: 'worker-2' });
    const headers = { ...request('request-of-worker-2').headers, 'x-librechat-code-worker-id': 'worker-2' };
    await one.send('/v1/workspace-tools/requests', { as: 'caller', body: commandBody(), headers });
    await one.close();
    await here.settleCommand(await here.next());
    const path = '/v1/workspace-tools/requests/request-of-worker-2';
    expect((await other.send(path, { as: 'caller' })).json['state']).toBe('completed');
  });

  it('tell of a cancelled one, of one that was refused, and of one that left the queue', async () => {
    const answer = execute(one, commandBody());
    const running = await worker.next();
    const path = '/v1/workspace-tools/requests';
    await submit(one, 'request-cancelled');
    const cancelled = await other.send(`${path}/request-cancelled`, { as: 'caller', method: 'DELETE' });
    expect(cancelled).toMatchObject({ status: 200, json: { state: 'cancelled', cancelRequested: true } });
    const headers = { ...request('request-impatient').headers, 'x-librechat-workspace-queue-wait-ms': '1' };
    await one.send(path, { as: 'caller', body: commandBody(), headers });
    await expect
      .poll(async () => (await other.send(`${path}/request-impatient`, { as: 'caller' })).json)
      .toMatchObject({ state: 'failed', error: { code: 'WORKSPACE_QUEUE_TIMEOUT' } });
    const metrics = await Promise.all(
      [one, other].map((bridge) => bridge.send('/metrics', { as: 'admin', isText: true })),
    );
    const counted = 'codelanes_queue_timeouts_total{operation="execute_command"} 1\n';
    expect(metrics.filter(({ text }) => text.includes(counted))).toHaveLength(1);
    await submit(other, 'request-refused-there');
    await untilQueued(one, 1);
    await worker.settleCommand(running);
    await worker.settle(await worker.next(), {
      status: 'rejected',
      error: { code: 'INVALID_PATH', message: 'There is no such folder.' },
    });
    expect((await one.send(`${path}/request-refused-there`, { as: 'caller' })).json).toMatchObject({
      state: 'failed',
      error: { code: 'INVALID_PATH' },
      cancelRequested: false,
    });
    expect((await answer).status).toBe(200);
  });

  it.each(['short', 'a'.repeat(129), 'with.a.dot.in.it.', ''])(
    'take no request of the id "%s"',
    async (id) => {
      expect(await submit(one, id)).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    },
  );
});

it('refuses to start on a Redis of another layout, and says so', async () => {
  await bridges.server.ask((client) => client.set('bridges-of-old:layout', '0'));
  const start = TestBridge.start({
    store: { kind: 'redis', url: bridges.server.url, prefix: 'bridges-of-old' },
  });
  await expect(start).rejects.toThrow(/holds layout 0 of Codelanes.*stop the bridges of the other version/);
});
