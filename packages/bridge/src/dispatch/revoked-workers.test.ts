import { pollReplySchema, programmaticReplySchema } from '@codelanes/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RedisServer } from '../scheduler/testing/redis-server.js';
import { PairedWorker } from '../server/testing/paired-worker.js';
import { commandIn, execute, untilQueued } from '../server/testing/requests.js';
import { goOn, runScript } from '../server/testing/scripts.js';
import { TestBridge } from '../server/testing/test-bridge.js';

/** Leases that outlast every test: what ends before them has not waited for them. */
const scheduler = { leaseTtlMs: 600_000 };

describe.each(['memory', 'redis'] as const)('a worker that is revoked, store %s,', (kind) => {
  let redis: RedisServer | undefined;
  let bridge: TestBridge;
  /** With Redis another bridge; the administrator asks there. */
  let other: TestBridge;
  let worker: PairedWorker;

  beforeAll(async () => {
    redis = kind === 'redis' ? await RedisServer.start() : undefined;
    const store = redis === undefined ? {} : { store: { kind: 'redis', url: redis.url } as const };
    bridge = await TestBridge.start({ scheduler, ...store });
    other = redis === undefined ? bridge : await TestBridge.start({ scheduler, ...store });
  });
  afterAll(async () => {
    await bridge.close();
    if (other !== bridge) await other.close();
    await redis?.stop();
  });

  beforeEach(async () => {
    worker = await newlyPaired();
  });

  /** It takes over what the one before it holds, whose leases live on. */
  async function newlyPaired(): Promise<PairedWorker> {
    const paired = (await PairedWorker.paired(other)).at(bridge);
    expect((await paired.register()).status).toBe(200);
    return paired;
  }

  const revoke = () => other.send('/v1/bridge/workers/laptop/revoke', { as: 'admin', body: {} });

  it('answers for nothing any more: who waits for it is told at once what is known', async () => {
    const running = execute(bridge, commandIn('a'));
    expect((await worker.poll(20_000)).json['assignments']).toHaveLength(1);
    const waiting = execute(bridge, commandIn('a'));
    await untilQueued(bridge, 1, 'laptop');
    await revoke();
    expect(await running).toMatchObject({ status: 504, json: { code: 'ASSIGNMENT_EXPIRED' } });
    expect((await running).text).toContain('revoked while it ran');
    expect(await waiting).toMatchObject({ status: 503, json: { code: 'WORKER_OFFLINE' } });
    expect((await waiting).text).toContain('did not start');
  });

  it('takes the scripts along that wait for tools', async () => {
    const asked = runScript(bridge, { tools: [{ name: 'look' }] });
    const { assignments } = pollReplySchema.parse((await worker.poll(20_000)).json);
    const [assignment] = assignments;
    if (assignment === undefined) throw new Error('The script was not assigned.');
    const { callId, generation, token } = assignment;
    const settlement = {
      status: 'paused',
      toolCalls: [{ id: 'call_1', name: 'look', input: {} }],
      stdout: '',
    };
    await worker.post('settle', { lease: { callId, generation, token }, settlement });
    const paused = await asked;
    expect(programmaticReplySchema.parse(paused.json).status).toBe('tool_call_required');
    await revoke();
    const answer = await goOn(bridge, paused);
    expect(answer).toMatchObject({ status: 200, json: { status: 'completed' } });
    expect(answer.json['stdout']).toContain('The outcome of the call is unknown: its worker was revoked');
  });

  it('is waited for as before where it is paired anew', async () => {
    const answer = execute(bridge, commandIn('b'));
    expect((await worker.poll(20_000)).json['assignments']).toHaveLength(1);
    await revoke();
    await answer;
    const again = await newlyPaired();
    const stop = new AbortController();
    const waited = execute(bridge, commandIn('b'), { signal: stop.signal }).catch(() => 'given up');
    expect((await again.poll(20_000)).json['assignments']).toHaveLength(1);
    stop.abort();
    expect(await waited).toBe('given up');
  });
});
