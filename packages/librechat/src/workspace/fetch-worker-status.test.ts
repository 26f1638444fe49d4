import { afterEach, describe, expect, it } from 'vitest';
import { fetchWorkerStatus, WorkerStatusError } from '../index.js';
import { StubBridge, type StubReply } from '../testing/stub-bridge.js';

const offline = { protocolVersion: 1, workerId: 'w1', online: false, ready: false };

let stub: StubBridge;
afterEach(() => stub.stop());

async function statusFrom(reply: StubReply): Promise<unknown> {
  stub = await StubBridge.start(reply);
  return fetchWorkerStatus({ baseURL: `${stub.baseURL}/`, token: 't', workerId: 'w1' });
}

describe('the status of a worker', () => {
  it('is asked for as one of our own clients', async () => {
    expect(await statusFrom({ body: offline })).toEqual(offline);
    expect(stub.requests).toMatchObject([
      {
        method: 'GET',
        path: '/v1/bridge/workers/w1/status',
        headers: { authorization: 'Bearer t', 'x-codelanes-client': '1' },
      },
    ]);
  });

  it('may say more than this client knows', async () => {
    const newer = { ...offline, tomorrow: { more: true } };
    expect(await statusFrom({ body: newer })).toEqual(offline);
  });

  it.each<[string, StubReply, Partial<WorkerStatusError>]>([
    ['of another worker', { body: { ...offline, workerId: 'w2' } }, { reason: 'invalid' }],
    ['ready and offline', { body: { ...offline, ready: true } }, { reason: 'invalid' }],
    ['over 256 KiB', { body: { ...offline, more: 'x'.repeat(256 * 1024) } }, { reason: 'invalid' }],
    ['refused', { status: 401 }, { reason: 'rejected', upstreamStatus: 401 }],
    ['elsewhere', { status: 302, headers: { location: '/v1/x' } }, { reason: 'failed' }],
  ])('is none where it is %s', async (_, reply, expected) => {
    const failure = await statusFrom(reply).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WorkerStatusError);
    expect(failure).toMatchObject(expected);
  });
});
