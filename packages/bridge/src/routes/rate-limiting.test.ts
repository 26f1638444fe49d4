import { afterEach, expect, it } from 'vitest';
import { commandBody, execute, untilQueued } from '../server/testing/requests.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

let bridge: TestBridge;

afterEach(async () => {
  await bridge.close();
});

it('refuses too many calls of one caller in the form that LibreChat repeats, and nobody else', async () => {
  bridge = await TestBridge.start({ rateLimit: { calls: 2, windowMs: 3_600_000 } });
  const answers = [
    await execute(bridge, commandBody()),
    await execute(bridge, commandBody()),
    await execute(bridge, commandBody()),
    await execute(bridge, commandBody(), { as: 'otherCaller' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 429, 503]);
  const { json, headers } = answers[2] ?? {};
  expect(json).toMatchObject({ error: 'rate_limited', code: 'RATE_LIMITED' });
  expect(json?.['message']).toMatch(/2 calls in 3600 s/);
  // Half an hour, less what has passed since the first of them.
  const seconds = Number(json?.['retry_after_seconds']);
  expect(seconds).toBeLessThanOrEqual(1_800);
  expect(seconds).toBeGreaterThan(1_700);
  expect(headers?.['retry-after']).toBe(String(seconds));
});

it('counts before it reads a body, and counts no look at a call', async () => {
  bridge = await TestBridge.start({ rateLimit: { calls: 1, windowMs: 3_600_000 } });
  expect((await execute(bridge, '{')).status).toBe(400);
  expect((await execute(bridge, '{')).status).toBe(429);
  for (let looks = 0; looks < 5; looks += 1) {
    expect((await bridge.send(`/v1/calls/${'a'.repeat(32)}`, { as: 'caller' })).status).toBe(404);
  }
});

it('counts nothing where the operator turned it off', async () => {
  bridge = await TestBridge.start({ rateLimit: 'off' });
  const answers = await Promise.all(Array.from({ length: 700 }, () => execute(bridge, '{')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
});

it('lets one caller fill its share of a queue and no more, and says that it was the share', async () => {
  bridge = await TestBridge.start({ scheduler: { queueLength: 4 } });
  const worker = await TestWorker.registered(bridge);
  const running = execute(bridge, commandBody());
  const assignment = await worker.next();
  const own = [execute(bridge, commandBody()), execute(bridge, commandBody())];
  await untilQueued(bridge, 2);
  const refused = await execute(bridge, commandBody());
  expect(refused).toMatchObject({ status: 429, json: { code: 'WORKER_QUEUE_FULL' } });
  expect(refused.json['error']).toMatch(/as one caller may have/);
  const others = [1, 2].map(() => execute(bridge, commandBody(), { as: 'otherCaller' }));
  await untilQueued(bridge, 4);
  const full = await execute(bridge, commandBody(), { as: 'otherCaller' });
  expect(full.json['error']).toMatch(/The queue of worker-1 is full/);
  await worker.settleCommand(assignment);
  for (const answer of [running, ...own, ...others]) {
    if (answer !== running) await worker.settleCommand(await worker.next());
  }
  const statuses = await Promise.all([running, ...own, ...others]);
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});
