import { afterEach, beforeEach, expect, it } from 'vitest';
import { commandBody, execute } from '../server/testing/requests.js';
import { TestBridge } from '../server/testing/test-bridge.js';
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

it('renews leases and tells which are lost', async () => {
  const answer = execute(bridge, commandBody());
  const assignment = await worker.next();
  const { callId, generation, token } = assignment;
  const forged = { callId, generation, token: 'f'.repeat(64) };
  const kept = await worker.post('renew', { leases: [{ callId, generation, token }] });
  expect(kept).toMatchObject({ status: 200, json: { version: 1, lost: [], cancellations: [] } });
  expect((await worker.post('renew', { leases: [forged] })).json['lost']).toEqual([callId]);
  await worker.settleCommand(assignment);
  await answer;
});

it('accepts the same settlement again, and none with another token', async () => {
  const answer = execute(bridge, commandBody());
  const assignment = await worker.next();
  expect(await worker.settleCommand({ ...assignment, token: 'f'.repeat(64) })).toBe(false);
  expect(await worker.settleCommand(assignment)).toBe(true);
  expect(await worker.settleCommand(assignment)).toBe(true);
  expect((await answer).status).toBe(200);
});

it('offers a call that was answered busy again after the next report', async () => {
  const answer = execute(bridge, commandBody());
  const { callId, generation, token } = await worker.next();
  await worker.post('report', { reports: [{ callId, generation, token, state: 'busy' }] });
  expect((await worker.poll(0)).assignments).toEqual([]);
  await worker.post('report', { reports: [{ state: 'freed' }] });
  const again = await worker.next();
  expect(again.callId).toBe(callId);
  await worker.settleCommand(again);
  expect((await answer).status).toBe(200);
});

it('tells the worker to stop a start whose lease is not its own', async () => {
  const callId = 'c'.repeat(32);
  const report = { callId, generation: 1, token: 'f'.repeat(64), state: 'started' };
  expect((await worker.post('report', { reports: [report] })).json['fenced']).toEqual([callId]);
});
