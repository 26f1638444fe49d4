import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { commandBody, execute } from '../server/testing/requests.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let bridge: TestBridge;
let worker: TestWorker;
let lines: string[];

beforeEach(async () => {
  lines = [];
  bridge = await TestBridge.start({}, pino({ level: 'info' }, { write: (line) => void lines.push(line) }));
  worker = await TestWorker.registered(bridge);
});

afterEach(async () => {
  await bridge.close();
});

it("takes the caller's request id and trace along to the worker, and logs the id beside the call", async () => {
  const headers = { 'x-request-id': 'caller-7.a', traceparent };
  const answer = execute(bridge, commandBody(), { headers });
  const assignment = await worker.next();
  expect(assignment).toMatchObject({ requestId: 'caller-7.a', traceparent });
  await worker.settleCommand(assignment);
  expect((await answer).headers['x-request-id']).toBe('caller-7.a');
  const line = lines.find((text) => text.includes(assignment.callId));
  expect(line).toContain('"requestId":"caller-7.a"');
});

it.each([
  ['too long', 'a'.repeat(129)],
  ['of other characters', 'id"},"level":60'],
  ['empty', ''],
])('makes an id of its own where the caller sends one that is %s', async (_how, sent) => {
  const answer = execute(bridge, commandBody(), { headers: { 'x-request-id': sent } });
  const assignment = await worker.next();
  await worker.settleCommand(assignment);
  const told = (await answer).headers['x-request-id'];
  expect(told).toMatch(/^[0-9a-f-]{36}$/);
  expect(assignment.requestId).toBe(told);
});

it('passes a malformed trace on to nobody, and runs the call', async () => {
  const answer = execute(bridge, commandBody(), { headers: { traceparent: '00-0-0-01' } });
  const assignment = await worker.next();
  expect(assignment.traceparent).toBeUndefined();
  await worker.settleCommand(assignment);
  expect((await answer).status).toBe(200);
});
