import { afterEach, expect, it } from 'vitest';
import { ManualClock } from '../scheduler/manual-clock.js';
import { MemoryStore } from '../scheduler/memory-store.js';
import { defaultSchedulerSettings } from '../scheduler/scheduler-settings.js';
import { commandBody, commandIn, execute, untilQueued, waiting } from '../server/testing/requests.js';
import { listenOver } from '../server/testing/serve-store.js';
import { TestBridge, testTokens } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

const bridges: TestBridge[] = [];

afterEach(async () => {
  await Promise.all(bridges.splice(0).map((bridge) => bridge.close()));
});

async function start(...options: Parameters<typeof TestBridge.start>): Promise<TestBridge> {
  const bridge = await TestBridge.start(...options);
  bridges.push(bridge);
  return bridge;
}

async function metricsOf(bridge: TestBridge): Promise<string> {
  return (await bridge.send('/metrics', { as: 'admin', isText: true })).text;
}

it('needs the token of the administrator, unless the operator opened or closed it', async () => {
  const closed = await start({ metrics: 'off' });
  const open = await start({ metrics: 'open' });
  const bridge = await start();
  expect((await bridge.send('/metrics')).status).toBe(401);
  expect((await bridge.send('/metrics', { as: 'caller' })).status).toBe(403);
  expect((await open.send('/metrics', { isText: true })).status).toBe(200);
  expect((await closed.send('/metrics', { as: 'admin' })).status).toBe(404);
});

it('tells what runs and waits, what was settled, and what timed out, by operation', async () => {
  const bridge = await start();
  const worker = await TestWorker.registered(bridge);
  const first = execute(bridge, commandIn('a'));
  const running = await worker.next();
  await worker.start(running);
  const second = execute(bridge, commandBody());
  await untilQueued(bridge, 1);
  const during = await metricsOf(bridge);
  expect(during).toContain(
    'codelanes_running_calls{worker="worker-1",pool="command",operation="execute_command"} 1\n',
  );
  expect(during).toContain('codelanes_waiting_calls{worker="worker-1",operation="execute_command"} 1\n');
  expect((await execute(bridge, commandBody(), { headers: waiting(1) })).status).toBe(503);
  await worker.settleCommand(running);
  await worker.settleCommand(await worker.next());
  await Promise.all([first, second]);
  const after = await metricsOf(bridge);
  expect(after).toContain('codelanes_queue_seconds_count{operation="execute_command"} 2\n');
  expect(after).toContain('codelanes_run_seconds_count{operation="execute_command"} 2\n');
  expect(after).toContain('codelanes_queue_timeouts_total{operation="execute_command"} 1\n');
  expect(after).toContain(
    'codelanes_running_calls{worker="worker-1",pool="command",operation="execute_command"} 0\n',
  );
});

it('[T73] counts a lost lease once, and its lane and slot are free in the same numbers', async () => {
  const clock = new ManualClock();
  const bridge = await listenOver(new MemoryStore(defaultSchedulerSettings, clock));
  bridges.push(bridge);
  const worker = await TestWorker.registered(bridge);
  const answer = execute(bridge, commandIn('a'));
  await worker.start(await worker.next());
  clock.advance(defaultSchedulerSettings.leaseTtlMs);
  expect((await answer).json['code']).toBe('ASSIGNMENT_EXPIRED');
  const text = await metricsOf(bridge);
  expect(text).toContain('codelanes_lease_losses_total{operation="execute_command"} 1\n');
  expect(text).toContain(
    'codelanes_running_calls{worker="worker-1",pool="command",operation="execute_command"} 0\n',
  );
});

it('never names a path, a content, a caller or a call', async () => {
  const bridge = await start();
  const worker = await TestWorker.registered(bridge);
  const secret = 'folder-that-nobody-may-count';
  const answer = execute(bridge, commandIn('a', { command: `cat ${secret}`, cwd: secret }));
  const assignment = await worker.next();
  const during = await metricsOf(bridge);
  await worker.settleCommand(assignment, secret);
  const { headers } = await answer;
  const text = during + (await metricsOf(bridge));
  const unwanted = [secret, 'worktree', assignment.callId, String(headers['x-request-id'])];
  for (const word of [...unwanted, ...Object.values(testTokens)]) expect(text).not.toContain(word);
});

it('is a registry of each bridge by itself', async () => {
  const [one, other] = [await start(), await start()];
  const worker = await TestWorker.registered(one, { id: 'only-here' });
  await worker.poll(0);
  expect(await metricsOf(one)).toContain('only-here');
  expect(await metricsOf(other)).not.toContain('only-here');
});
