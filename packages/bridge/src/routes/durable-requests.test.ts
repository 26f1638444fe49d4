import { afterEach, beforeEach, expect, it } from 'vitest';
import { commandBody } from '../server/testing/requests.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

let bridge: TestBridge;

beforeEach(async () => {
  bridge = await TestBridge.start();
  await TestWorker.registered(bridge);
});

afterEach(async () => {
  await bridge.close();
});

it('are not offered by a bridge that keeps nothing: LibreChat falls back to synchronous calls', async () => {
  const offered = await bridge.send('/v1/workspace-tools/capabilities', { as: 'caller' });
  expect(offered).toMatchObject({ status: 200, json: { durableWorkspaceRequests: 0 } });
  const headers = { 'x-librechat-workspace-request-id': 'request-0123456789' };
  const path = '/v1/workspace-tools/requests';
  const answers = [
    await bridge.send(path, { as: 'caller', body: commandBody(), headers }),
    await bridge.send(`${path}/request-0123456789`, { as: 'caller' }),
    await bridge.send(`${path}/request-0123456789`, { as: 'caller', method: 'DELETE' }),
  ];
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 404, json: { code: 'DURABLE_REQUESTS_NOT_OFFERED' } });
  }
});
