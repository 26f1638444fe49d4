import { beforeEach, describe, expect, it } from 'vitest';
import { BridgesOnRedis } from './testing/bridges-on-redis.js';
import { endScript, goOn, pauseAt, programmaticPath, runScript, toolCall } from './testing/scripts.js';
import type { TestBridge } from './testing/test-bridge.js';
import type { TestWorker } from './testing/test-worker.js';

const bridges = BridgesOnRedis.prepare();
let one: TestBridge;
let other: TestBridge;
let worker: TestWorker;

beforeEach(async () => {
  ({ one, other, worker } = await bridges.startTwo());
});

const named = { headers: { 'x-librechat-code-request-id': 'r1' } };

function cancelAt(bridge: TestBridge, name = 'r1') {
  return bridge.send(`${programmaticPath}/cancel`, { as: 'caller', body: { request_id: name } });
}

/** A script that waits for a tool call, and was begun at that bridge. */
async function pausedAt(bridge: TestBridge) {
  const begun = runScript(bridge, { workspace_worktree: 'a' }, named);
  const assignment = await worker.next();
  await pauseAt(worker, assignment, toolCall(1));
  return { assignment, answer: await begun };
}

/** Another one, in a lane beside. */
async function secondPaused() {
  const begun = runScript(one, { workspace_worktree: 'b' });
  await pauseAt(worker, await worker.next(), toolCall(1));
  return begun;
}

/** What the owner of a script that waits no more is told. */
const hasEnded = { status: 'completed', stdout: expect.stringContaining('has ended') as string };

describe('a script at two bridges of one Redis', () => {
  it('is begun at one, goes on at the other, and ends at the first', async () => {
    const { assignment, answer } = await pausedAt(one);
    const there = goOn(other, answer);
    const resumed = await worker.next();
    expect(resumed).toMatchObject({
      callId: assignment.callId,
      request: { operation: 'resume_script', results: [{ callId: 'call_001', result: 'web-search' }] },
    });
    expect((await goOn(one, answer)).status).toBe(409);
    await pauseAt(worker, resumed, toolCall(2));
    const here = goOn(one, await there);
    await endScript(worker, await worker.next(), { stdout: 'done\n' });
    expect((await here).json).toMatchObject({ status: 'completed', stdout: 'done\n' });
    expect((await goOn(other, await there)).json).toMatchObject(hasEnded);
  });

  it('waits on where the bridge that it was begun at has ended', async () => {
    const third = await bridges.start();
    const { answer } = await pausedAt(third);
    await third.close();
    const continued = goOn(one, answer);
    await endScript(worker, await worker.next());
    expect((await continued).json).toMatchObject({ status: 'completed' });
  });

  it('is cancelled by its name at either of them', async () => {
    const { assignment, answer } = await pausedAt(one);
    expect((await cancelAt(other)).status).toBe(202);
    expect((await worker.poll()).cancellations).toEqual([assignment.callId]);
    expect((await goOn(other, answer)).json).toMatchObject(hasEnded);
    expect((await cancelAt(one)).status).toBe(200);
  });

  it('is cancelled at either of them by the name of the request that lets it go on, which no other has meanwhile', async () => {
    const { answer } = await pausedAt(one);
    const again = { headers: { 'x-librechat-code-request-id': 'r2' } };
    const continued = goOn(one, answer, again);
    const resumed = await worker.next();
    await worker.start(resumed);
    const second = await secondPaused();
    expect(await goOn(other, second, again)).toMatchObject({
      status: 409,
      json: { code: 'REQUEST_CONFLICT' },
    });
    expect((await cancelAt(other, 'r2')).status).toBe(202);
    expect((await worker.poll()).cancellations).toEqual([resumed.callId]);
    await endScript(worker, resumed);
    expect((await continued).status).toBe(200);
    expect((await cancelAt(other, 'r2')).status).toBe(200);
    // Nothing has the name any more, and the script that was refused under it waits still.
    const free = goOn(other, second, again);
    await endScript(worker, await worker.next());
    expect((await free).status).toBe(200);
  });

  it('is begun once under one name', async () => {
    const begun = runScript(one, {}, named);
    const assignment = await worker.next();
    expect((await runScript(other, {}, named)).status).toBe(409);
    await endScript(worker, assignment);
    expect((await begun).status).toBe(200);
  });
});
