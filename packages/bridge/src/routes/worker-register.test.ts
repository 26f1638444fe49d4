import { afterEach, beforeEach, expect, it } from 'vitest';
import { laneOf, lanesViewSchema, limits } from '@codelanes/protocol';
import { commandIn, execute, untilQueued } from '../server/testing/requests.js';
import { randomId, TestBridge } from '../server/testing/test-bridge.js';
import { testCapabilities, TestWorker } from '../server/testing/test-worker.js';

let bridge: TestBridge;

beforeEach(async () => {
  bridge = await TestBridge.start({ slots: 3, filePool: 5, scheduler: { leaseTtlMs: 600_000 } });
});

afterEach(async () => {
  await bridge.close();
});

it('tells the terms: slots are the smaller of the offer and the ceiling', async () => {
  const worker = new TestWorker(bridge);
  const terms = { filePool: 5, leaseTtlMs: 600_000, renewEveryMs: 100_000, unresolved: [] };
  expect(await worker.register({ slots: 2, takeOver: true })).toMatchObject({ ...terms, slots: 2 });
  expect(await worker.register({ slots: limits.slots, takeOver: true })).toMatchObject({
    ...terms,
    slots: 3,
  });
});

it.each([0, limits.slots + 1, 1.5])('refuses an offer of %d slots', async (slots) => {
  const worker = new TestWorker(bridge);
  const answer = await worker.post('register', { ...offer(), slots });
  expect(answer).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
  expect(answer.json['error']).toContain('body.slots');
});

it('refuses a worker id that is not the one of the path', async () => {
  const worker = new TestWorker(bridge);
  const answer = await worker.post('register', { ...offer(), workerId: 'another' });
  expect(answer).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
  expect(answer.json['error']).toContain('body.workerId');
});

it.each(['register', 'poll', 'report', 'renew', 'settle'])(
  'names both versions to a worker of another wire version: %s',
  async (route) => {
    const answer = await new TestWorker(bridge).post(route, { version: 7 });
    expect(answer).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect(answer.json['error']).toMatch(/version 1 .*version 7/);
  },
);

it('refuses a second worker of the same identity while the first one lives, unless it takes over', async () => {
  await TestWorker.registered(bridge);
  const second = new TestWorker(bridge);
  const refused = await second.post('register', offer());
  expect(refused).toMatchObject({ status: 409, json: { code: 'WORKER_FENCED' } });
  expect((await second.register({ takeOver: true })).slots).toBe(2);
});

it('bounds the commands of a repository by the capacity that its operator set', async () => {
  const { workspaceTools, ...rest } = testCapabilities();
  const [workspace, ...aliases] = workspaceTools.workspaces;
  if (workspace === undefined) throw new Error('The test worker offers a workspace.');
  const bounded = { ...workspace, capacities: [{ repository: 'app', commands: 1 }] };
  const capabilities = { ...rest, workspaceTools: { ...workspaceTools, workspaces: [bounded, ...aliases] } };
  const worker = await TestWorker.registered(bridge, { capabilities });
  const first = execute(bridge, commandIn('a', { repository: 'app' }));
  const running = await worker.next();
  const second = execute(bridge, commandIn('b', { repository: 'app' }));
  await untilQueued(bridge, 1);
  expect((await worker.poll(0)).assignments).toEqual([]);
  await worker.settleCommand(running);
  await worker.settleCommand(await worker.next());
  expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
});

it('changes its slots while calls run, and never lets more run than it has now', async () => {
  const journalId = randomId();
  const worker = await TestWorker.registered(bridge, { journalId, slots: 3 });
  const answers = ['a', 'b', 'c', 'd'].map((lane) => execute(bridge, commandIn(lane)));
  await untilQueued(bridge, 1);
  const { assignments: running } = await worker.poll();
  expect(running).toHaveLength(3);
  const holds = running.map(({ callId, generation, token, lane, mode }) => {
    return { callId, generation, token, lane, mode, pool: 'command' as const };
  });
  expect(await worker.register({ journalId, slots: 1, holds })).toMatchObject({ slots: 1, unresolved: [] });
  const [first, second, third] = running;
  for (const settled of [first, second]) {
    if (settled !== undefined) await worker.settleCommand(settled);
    // As many still run as there is room for, or more.
    expect((await worker.poll(0)).assignments).toEqual([]);
  }
  if (third !== undefined) await worker.settleCommand(third);
  await worker.settleCommand(await worker.next());
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200]);
});

it('changes what it offers without a restart: the next call is judged by that', async () => {
  const journalId = randomId();
  const worker = await TestWorker.registered(bridge, { journalId });
  const { workspaceTools, ...rest } = testCapabilities();
  const workspaces = [{ id: 'primary' }];
  await worker.register({
    journalId,
    capabilities: { ...rest, workspaceTools: { ...workspaceTools, workspaces } },
  });
  expect(await execute(bridge, commandIn('a'))).toMatchObject({
    status: 409,
    json: { code: 'WORKER_MISMATCH' },
  });
});

it('tells of the lanes that it has closed, at its registration and whenever they change', async () => {
  const lane = laneOf({ workspaceId: 'primary', worktree: 'a' });
  const closed = { lane, cause: 'quarantine', reason: 'Process 7 may still run.', sinceMs: 5_000 } as const;
  const journalId = randomId();
  const worker = await TestWorker.registered(bridge, { journalId, closed: [closed] });
  const lanes = async () =>
    lanesViewSchema.parse((await bridge.send('/v1/bridge/workers/worker-1/lanes', { as: 'admin' })).json);
  const [listed] = (await lanes()).quarantined;
  expect(listed).toMatchObject({ lane, reason: closed.reason });
  expect(listed?.sinceMs).toBeGreaterThanOrEqual(5_000);
  await worker.post('report', {
    reports: [{ state: 'closed', lanes: [{ ...closed, cause: 'failed_setup' }] }],
  });
  expect(await lanes()).toMatchObject({ quarantined: [], failedSetups: [{ lane, reason: closed.reason }] });
});

it('tells administrators how long ago it heard of a worker, while that is online', async () => {
  await TestWorker.registered(bridge);
  const { online, heardAgoMs } = lanesViewSchema.parse(
    (await bridge.send('/v1/bridge/workers/worker-1/lanes', { as: 'admin' })).json,
  );
  expect(online).toBe(true);
  expect(heardAgoMs).toBeGreaterThanOrEqual(0);
});

it('lists the workers that have registered', async () => {
  expect((await bridge.send('/v1/bridge/workers', { as: 'admin' })).json).toEqual({ workers: [] });
  await TestWorker.registered(bridge, { id: 'one' });
  await TestWorker.registered(bridge, { id: 'two' });
  expect((await bridge.send('/v1/bridge/workers', { as: 'admin' })).json).toEqual({
    workers: ['one', 'two'],
  });
});

function offer(): object {
  return {
    workerId: 'worker-1',
    registrationId: randomId(),
    journalId: randomId(),
    capabilities: testCapabilities(),
    slots: 2,
    holds: [],
    takeOver: false,
  };
}
