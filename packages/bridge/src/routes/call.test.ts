import { afterEach, beforeEach, expect, it } from 'vitest';
import { callViewSchema, lanesViewSchema } from '@codelanes/protocol';
import { commandBody, commandIn, execute, untilQueued } from '../server/testing/requests.js';
import type { Answer, TokenName } from '../server/testing/test-bridge.js';
import { randomId, TestBridge } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

let bridge: TestBridge;
let worker: TestWorker;

beforeEach(async () => {
  bridge = await TestBridge.start();
  worker = await TestWorker.registered(bridge);
});

afterEach(async () => {
  await bridge.close();
});

it('shows a caller why its call waits, and answers at the next change', async () => {
  const first = execute(bridge, commandIn('a'));
  const running = await worker.next();
  const callId = randomId();
  const second = execute(bridge, commandBody(), { headers: { 'x-codelanes-call-id': callId } });
  await untilQueued(bridge, 1);
  const seen = callViewSchema.parse((await look(callId)).json);
  expect(seen).toMatchObject({
    state: 'waiting',
    lane: ['primary'],
    waiting: { blockers: [{ lane: ['primary', 'worktree:a'], callId: running.callId }], position: 1 },
  });
  const change = look(callId, { query: `?after=${seen.revision}` });
  await worker.settleCommand(running);
  const changed = callViewSchema.parse((await change).json);
  expect(changed.revision).toBeGreaterThan(seen.revision);
  await worker.settleCommand(await worker.next());
  await Promise.all([first, second]);
  expect((await look(callId)).json['state']).toBe('settled');
});

it('[T79] answers while the call waits on as soon as something else stands in its way', async () => {
  const first = execute(bridge, commandIn('a'));
  const runsInA = await worker.next();
  const second = execute(bridge, commandIn('b'), { as: 'otherCaller' });
  const runsInB = await worker.next();
  const callId = randomId();
  const third = execute(bridge, commandBody(), { headers: { 'x-codelanes-call-id': callId } });
  await untilQueued(bridge, 1);
  const seen = callViewSchema.parse((await look(callId)).json);
  expect(seen.waiting?.blockers).toHaveLength(2);
  const query = `?after=${seen.revision}&seen=${seen.mark ?? ''}`;
  const change = look(callId, { query });
  await worker.settleCommand(runsInA);
  // A read takes no slot and wakes whoever looks at this worker.
  const read = execute(bridge, {
    protocolVersion: 1,
    operation: 'read_file',
    workspaceId: 'primary',
    worktree: 'c',
    path: 'README.md',
  });
  // It is younger than the call on the checkout, so nothing starts before that one.
  await untilQueued(bridge, 2);
  const changed = callViewSchema.parse((await change).json);
  expect(changed).toMatchObject({
    state: 'waiting',
    revision: seen.revision,
    waiting: { blockers: [{ lane: ['primary', 'worktree:b'] }] },
  });
  expect(changed.mark).not.toBe(seen.mark);
  await worker.settleCommand(runsInB);
  await worker.settleCommand(await worker.next());
  await first;
  await second;
  await third;
  await worker.settle(await worker.next(), {
    status: 'rejected',
    error: { code: 'NOT_FOUND', message: 'There is no such file.' },
  });
  expect((await read).status).toBe(422);
});

it('answers at once a watcher that saw something else in the way of its call', async () => {
  const first = execute(bridge, commandIn('a'));
  const running = await worker.next();
  const callId = randomId();
  const second = execute(bridge, commandBody(), { headers: { 'x-codelanes-call-id': callId } });
  await untilQueued(bridge, 1);
  const seen = callViewSchema.parse((await look(callId)).json);
  const { json } = await look(callId, { query: `?after=${seen.revision}&seen=${'0'.repeat(16)}` });
  expect(json).toMatchObject({ state: 'waiting', revision: seen.revision, mark: seen.mark });
  await worker.settleCommand(running);
  await worker.settleCommand(await worker.next());
  await Promise.all([first, second]);
});

it('answers with the call as it is when nothing changes in time', async () => {
  const answer = execute(bridge, commandBody());
  const running = await worker.next();
  const seen = callViewSchema.parse((await look(running.callId)).json);
  const { json } = await look(running.callId, { query: `?after=${seen.revision}&waitMs=1` });
  expect(json['revision']).toBe(seen.revision);
  await worker.settleCommand(running);
  await answer;
});

it('tells nobody else that there is such a call', async () => {
  const answer = execute(bridge, commandBody());
  const running = await worker.next();
  const foreign = await look(running.callId, { as: 'otherCaller' });
  const unknown = await look('0'.repeat(32), { as: 'otherCaller' });
  expect([foreign, unknown]).toMatchObject([
    { status: 404, json: { code: 'CALL_NOT_FOUND' } },
    { status: 404, json: { code: 'CALL_NOT_FOUND' } },
  ]);
  await worker.settleCommand(running);
  await answer;
});

it.each([
  '?after=-1',
  '?after=x',
  '?waitMs=25001',
  '?waitMs=1.5',
  '?after=1&after=2',
  '?before=1',
  '?after=',
])('refuses the query %s and names the field', async (query) => {
  const { status, json } = await look(randomId(), { query });
  expect({ status, code: json['code'] }).toEqual({ status: 400, code: 'MALFORMED_REQUEST' });
  expect(json['error']).toMatch(/query/);
});

it('lets an administrator see and take back a waiting call, which then never ran', async () => {
  const first = execute(bridge, commandBody());
  const running = await worker.next();
  const second = execute(bridge, commandIn('a'));
  await untilQueued(bridge, 1);
  const lanes = lanesViewSchema.parse(
    (await bridge.send('/v1/bridge/workers/worker-1/lanes', { as: 'admin' })).json,
  );
  expect(lanes.running).toMatchObject([{ callId: running.callId, lane: ['primary'] }]);
  const [waits] = lanes.waiting;
  const cancelled = await cancel(waits?.callId ?? '');
  expect(cancelled).toMatchObject({ status: 200, json: { callId: waits?.callId, state: 'withdrawn' } });
  expect(await second).toMatchObject({ status: 409, json: { code: 'CALL_CANCELLED' } });
  await worker.settleCommand(running);
  await first;
});

it('lets an administrator have a running call stopped, whose end is the word of its worker', async () => {
  const answer = execute(bridge, commandBody());
  const running = await worker.next();
  await worker.start(running);
  const poll = worker.poll();
  expect((await cancel(running.callId)).json['state']).toBe('cancelling');
  expect((await poll).cancellations).toEqual([running.callId]);
  const error = { code: 'EXECUTION_ABORTED' as const, message: 'The command was stopped on request.' };
  await worker.settle(running, { status: 'rejected', error });
  expect(await answer).toMatchObject({ status: 422, json: { code: 'EXECUTION_ABORTED' } });
  expect((await cancel(running.callId)).json['state']).toBe('settled');
});

it('knows no lanes of a worker that never registered, and cancels no call that it does not know', async () => {
  const lanes = await bridge.send('/v1/bridge/workers/nobody/lanes', { as: 'admin' });
  expect(lanes).toMatchObject({ status: 404, json: { code: 'WORKER_NOT_FOUND' } });
  expect(await cancel(randomId())).toMatchObject({ status: 404, json: { code: 'CALL_NOT_FOUND' } });
});

function look(
  callId: string,
  { query = '', as = 'caller' }: { query?: string; as?: TokenName } = {},
): Promise<Answer> {
  return bridge.send(`/v1/calls/${callId}${query}`, { as });
}

function cancel(callId: string): Promise<Answer> {
  return bridge.send(`/v1/bridge/calls/${callId}/cancel`, { as: 'admin', method: 'POST' });
}
