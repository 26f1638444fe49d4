import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisServer } from '../scheduler/testing/redis-server.js';
import { commandBody, commandIn, execute, untilQueued, waiting } from '../server/testing/requests.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

let server: RedisServer;
let prefixes = 0;
let bridge: TestBridge;
let worker: TestWorker;

beforeAll(async () => {
  server = await RedisServer.start({ appendOnly: true });
});
afterAll(async () => {
  await server.stop();
});
beforeEach(async () => {
  prefixes += 1;
  bridge = await TestBridge.start({
    store: { kind: 'redis', url: server.url, prefix: `outage-${prefixes}` },
    settlementGraceMs: 200,
  });
  worker = await TestWorker.registered(bridge);
});
afterEach(async () => {
  vi.useRealTimers();
  await bridge.close();
});

/** At 503 the bridge has given up on a command, so that whatever it asked has failed too. */
async function untilReadyIs(status: 200 | 503): Promise<void> {
  await expect.poll(async () => (await bridge.send('/readyz')).status).toBe(status);
}

describe('a call whose Redis goes away', () => {
  it('and comes back is answered with its result, however long that took', async () => {
    const answer = execute(bridge, commandBody());
    const assignment = await worker.next();
    await worker.start(assignment);
    const waits = execute(bridge, commandBody());
    await untilQueued(bridge, 1);
    await server.kill();
    await untilReadyIs(503);
    await server.run();
    await untilReadyIs(200);
    await worker.settleCommand(assignment, 'hello');
    expect(await answer).toMatchObject({ status: 200, json: { stdout: 'hello' } });
    await worker.settleCommand(await worker.next());
    expect((await waits).status).toBe(200);
  });

  it('for longer than its caller waits is not said to have never run, and is taken back', async () => {
    const running = execute(bridge, commandIn('a'));
    const assignment = await worker.next();
    // Only what is read as the time: its deadline does not pass before Redis is away, however often it is looked at.
    vi.useFakeTimers({ toFake: ['performance'] });
    const waits = execute(bridge, commandIn('a'), { headers: waiting(1_000) });
    await untilQueued(bridge, 1);
    await server.kill();
    await untilReadyIs(503);
    vi.advanceTimersByTime(20_000);
    expect(await waits).toMatchObject({ status: 504, json: { code: 'ASSIGNMENT_EXPIRED' } });
    vi.useRealTimers();
    await server.run();
    await untilReadyIs(200);
    await untilQueued(bridge, 0);
    await worker.settleCommand(assignment);
    expect((await running).status).toBe(200);
    expect((await worker.poll(0)).assignments).toEqual([]);
  }, 180_000);
});
