import { pollReplySchema } from '@codelanes/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { BridgesOnRedis } from './testing/bridges-on-redis.js';
import { PairedWorker } from './testing/paired-worker.js';
import { commandBody, execute } from './testing/requests.js';
import { runScript } from './testing/scripts.js';
import type { Answer, TestBridge } from './testing/test-bridge.js';
import { testCapabilities, TestWorker } from './testing/test-worker.js';

const bridges = BridgesOnRedis.prepare();
let one: TestBridge;
let other: TestBridge;

beforeEach(async () => {
  [one, other] = [await bridges.start(), await bridges.start()];
});

function run(workerId: string, body: object = commandBody()): Promise<Answer> {
  return execute(other, body, { headers: naming(workerId) });
}

function naming(workerId: string): Readonly<Record<string, string>> {
  return { 'x-librechat-code-worker-id': workerId };
}

/** A worker of one bridge, which the other has seen by a call that it entered and that has ended. */
async function pairedAndSeen(): Promise<void> {
  const worker = await PairedWorker.paired(one);
  await worker.register();
  const answer = run('laptop');
  const { assignments } = pollReplySchema.parse((await worker.poll(5_000)).json);
  const [assignment] = assignments;
  if (assignment === undefined) throw new Error('the call was expected');
  const { callId, generation, token } = assignment;
  const settlement = { status: 'rejected', error: { code: 'NOT_FOUND', message: 'It is not there.' } };
  await worker.post('settle', { lease: { callId, generation, token }, settlement });
  expect((await answer).json['code']).toBe('INVALID_PATH');
}

/** The ways by which calls come to a worker. */
const ways = [
  { call: 'a call', send: () => run('laptop') },
  {
    call: 'a durable request',
    send: () =>
      other.send('/v1/workspace-tools/requests', {
        as: 'caller',
        body: commandBody(),
        headers: { ...naming('laptop'), 'x-librechat-workspace-request-id': 'request-of-laptop' },
      }),
  },
  { call: 'a script', send: () => runScript(other, {}, { headers: naming('laptop') }) },
];

describe.each(ways)('a bridge that has seen a worker, at $call', ({ send }) => {
  it('enters nothing any more once another bridge has revoked it', async () => {
    await pairedAndSeen();
    await one.send('/v1/bridge/workers/laptop/revoke', { as: 'admin', body: {} });
    expect((await send()).json['code']).toBe('WORKER_OFFLINE');
    const { json } = await other.send('/v1/bridge/workers/laptop/lanes', { as: 'admin' });
    expect(json).toMatchObject({ waiting: [] });
  });

  it('enters nothing of somebody for whom it does not work any more', async () => {
    await pairedAndSeen();
    const binding = { tenantId: 'others', principal: { type: 'tenant', id: 'others' } } as const;
    const again = await PairedWorker.paired(one, 'laptop', binding);
    await again.register();
    expect((await send()).json['code']).toBe('WORKER_OFFLINE');
    expect((await again.poll()).json['assignments']).toEqual([]);
  });
});

describe('a bridge that has seen a worker', () => {
  it('judges a call anew by what the worker can do since, whether that is less or more', async () => {
    const worker = await TestWorker.registered(one);
    const seen = run('worker-1');
    await worker.settleCommand(await worker.next());
    expect((await seen).status).toBe(200);
    const capabilities = testCapabilities();
    const { operations } = capabilities.workspaceTools;
    capabilities.workspaceTools.operations = operations.filter((name) => name !== 'execute_command');
    await worker.register({ capabilities, takeOver: true });
    expect((await run('worker-1')).json['code']).toBe('WORKER_MISMATCH');
    await worker.register({ takeOver: true });
    const more = run('worker-1');
    await worker.settleCommand(await worker.next());
    expect((await more).status).toBe(200);
  });
});

describe('a durable request that was taken in', () => {
  const path = '/v1/workspace-tools/requests';
  const send = (bridge: TestBridge, workerId: string, body: object = commandBody()) => {
    const headers = { ...naming(workerId), 'x-librechat-workspace-request-id': 'request-sent-again' };
    return bridge.send(path, { as: 'caller', body, headers });
  };

  it('tells how it stands where it is sent again and its worker would not be let do it any more', async () => {
    const worker = await TestWorker.registered(one);
    expect((await send(other, 'worker-1')).status).toBe(202);
    await worker.settleCommand(await worker.next(), 'hello');
    const capabilities = testCapabilities();
    const { operations } = capabilities.workspaceTools;
    capabilities.workspaceTools.operations = operations.filter((name) => name !== 'execute_command');
    await worker.register({ capabilities, takeOver: true });
    const again = await send(one, 'worker-1');
    expect(again).toMatchObject({ status: 202, json: { state: 'completed', result: { stdout: 'hello' } } });
    expect((await send(one, 'worker-1', commandBody({ command: 'false' }))).json['code']).toBe(
      'WORKER_MISMATCH',
    );
    expect((await send(one, 'worker-2')).json['code']).toBe('WORKER_OFFLINE');
  });

  it('does so where its worker was revoked', async () => {
    await pairedAndSeen();
    expect((await send(other, 'laptop')).status).toBe(202);
    await one.send('/v1/bridge/workers/laptop/revoke', { as: 'admin', body: {} });
    expect((await send(one, 'laptop')).json['requestId']).toBe('request-sent-again');
    expect((await send(one, 'laptop', commandBody({ command: 'false' }))).json['code']).toBe(
      'WORKER_OFFLINE',
    );
  });
});
