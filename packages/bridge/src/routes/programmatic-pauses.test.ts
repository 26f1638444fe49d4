import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandBody, commandIn, execute, untilQueued } from '../server/testing/requests.js';
import {
  endScript,
  goOn,
  goOnWith,
  pauseAt,
  pauseIn,
  programmaticPath,
  runScript,
  toolCall,
} from '../server/testing/scripts.js';
import { randomId, TestBridge, type Answer } from '../server/testing/test-bridge.js';
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

const tools = [{ name: 'web-search' }];

/** A script that waits for one tool call. */
async function paused() {
  const answer = runScript(bridge, { tools, workspace_worktree: 'a' });
  const assignment = await worker.next();
  await pauseAt(worker, assignment, toolCall(1));
  return { assignment, answer: await answer };
}

/** By no other state does the SDK keep a model from running the script anew. */
function expectEnded({ status, json }: Answer): void {
  expect(status).toBe(200);
  expect(json).toMatchObject({ status: 'completed' });
  expect(json['stdout']).toMatch(/^\[The script does not wait .+ before you run it again\.\]\n$/);
}

describe('a script that waits for tools', () => {
  it('asks for them under their registered names, and goes on as the same call with what they came to', async () => {
    const begun = runScript(bridge, { tools, workspace_worktree: 'a' });
    const first = await worker.next();
    await pauseAt(worker, first, toolCall(1), toolCall(2, 'boom'));
    const pause = pauseIn((await begun).json);
    expect(pause).toEqual({
      status: 'tool_call_required',
      session_id: first.callId,
      continuation_token: pause.continuation_token,
      tool_calls: [
        { id: 'call_001', name: 'web-search', input: { q: 1 } },
        { id: 'call_002', name: 'boom', input: { q: 2 } },
      ],
      partial_stdout: 'so far\n',
    });
    const next = worker.next();
    const continued = goOnWith(bridge, pause.continuation_token, [
      { call_id: 'call_002', result: null, is_error: true, error_message: 'kaput' },
      { call_id: 'call_001', result: { hits: ['SF'] }, is_error: false },
    ]);
    const second = await next;
    expect(second).toMatchObject({
      callId: first.callId,
      lane: ['primary', 'worktree:a'],
      request: {
        operation: 'resume_script',
        results: [
          { callId: 'call_002', error: 'kaput' },
          { callId: 'call_001', result: { hits: ['SF'] } },
        ],
      },
    });
    await endScript(worker, second, { stdout: 'done\n' });
    expect((await continued).json).toMatchObject({ status: 'completed', stdout: 'done\n' });
  });

  it('may wait as often as it likes, with another token each time', async () => {
    let { answer } = await paused();
    const tokens = new Set<string>();
    for (let number = 2; number <= 4; number += 1) {
      tokens.add(pauseIn(answer.json).continuation_token);
      const continued = goOn(bridge, answer);
      await pauseAt(worker, await worker.next(), toolCall(number));
      answer = await continued;
    }
    expect(tokens.size).toBe(3);
    const last = goOn(bridge, answer);
    await endScript(worker, await worker.next());
    expect((await last).json).toMatchObject({ status: 'completed' });
  });

  it('leaves its lane to the tool that it called, and goes on ahead of those who came later', async () => {
    const { assignment, answer } = await paused();
    const tool = execute(bridge, commandIn('a'));
    const inTool = await worker.next();
    expect(inTool.lane).toEqual(assignment.lane);
    const checkout = execute(bridge, commandBody());
    await untilQueued(bridge, 1);
    const continued = goOn(bridge, answer);
    await untilQueued(bridge, 2);
    await worker.settleCommand(inTool);
    expect((await tool).status).toBe(200);
    const resumed = await worker.next();
    expect(resumed.callId).toBe(assignment.callId);
    await endScript(worker, resumed);
    expect((await continued).json).toMatchObject({ status: 'completed' });
    await worker.settleCommand(await worker.next());
    await checkout;
  });

  it('is forgotten, and its worker told so when it comes again, where nobody can let it go on', async () => {
    const { assignment, answer } = await paused();
    const { callId } = assignment;
    await bridge.send(`/v1/bridge/calls/${callId}/cancel`, { as: 'admin', body: {} });
    const other = await paused();
    const asked = [callId, other.assignment.callId, randomId()];
    const { forgotten } = await worker.register({ takeOver: true, paused: asked });
    expect(forgotten).toEqual([asked[0], asked[2]]);
    expectEnded(await goOn(bridge, answer));
    const continued = goOn(bridge, other.answer);
    await endScript(worker, await worker.next());
    expect((await continued).status).toBe(200);
  });

  it('is cancelled where its caller went away while it ran on', async () => {
    const { answer } = await paused();
    const caller = new AbortController();
    const continued = goOn(bridge, answer, { signal: caller.signal });
    const resumed = await worker.next();
    await worker.start(resumed);
    caller.abort();
    await expect(continued).rejects.toThrow();
    expect((await worker.poll()).cancellations).toEqual([resumed.callId]);
  });
});

describe('a continuation token', () => {
  const results = [{ call_id: 'call_001', result: 'x' }];

  it('of another caller is as unknown as one that never was', async () => {
    const { answer } = await paused();
    const { continuation_token: token } = pauseIn(answer.json);
    const foreign = await goOnWith(bridge, token, results, { as: 'otherCaller' });
    const random = await goOnWith(bridge, `${'a'.repeat(32)}.${'b'.repeat(43)}`, results);
    const garbage = await goOnWith(bridge, 'tok_1', results);
    for (const { status, json } of [foreign, random, garbage]) {
      expect(status).toBe(404);
      expect(json).toEqual(foreign.json);
      expect(json).toMatchObject({ code: 'CONTINUATION_NOT_FOUND' });
    }
    // What may have happened, and what to do next: nobody runs the script whole once more because of it.
    expect(random.json['error']).toMatch(
      /a script waits 5 minutes .* started anew, which ends scripts that wait/,
    );
    expect(random.json['error']).toContain('What the script had done stays');
    expect(random.json['next']).toMatch(/^Look at what the script has done in its lane/);
    const continued = goOn(bridge, answer);
    await endScript(worker, await worker.next());
    expect((await continued).status).toBe(200);
  });

  it('lets a script go on once: meanwhile it is a conflict, after that unknown, and at its end that is said', async () => {
    const { answer } = await paused();
    const continued = goOn(bridge, answer);
    const resumed = await worker.next();
    expect(await goOn(bridge, answer)).toMatchObject({
      status: 409,
      json: { code: 'CONTINUATION_CONFLICT' },
    });
    await pauseAt(worker, resumed, toolCall(2));
    const again = await continued;
    expect((await goOn(bridge, answer)).status).toBe(404);
    const last = goOn(bridge, again);
    await endScript(worker, await worker.next());
    await last;
    expectEnded(await goOn(bridge, again));
    expect((await goOn(bridge, again, { as: 'otherCaller' })).status).toBe(404);
    expect((await worker.poll(0)).assignments).toEqual([]);
  });

  it('of one pause with the digest of another is none', async () => {
    const { answer } = await paused();
    const { continuation_token: token } = pauseIn(answer.json);
    const forged = `${token.slice(0, 33)}${'A'.repeat(43)}`;
    expect((await goOnWith(bridge, forged, results)).status).toBe(404);
  });

  it.each([
    ['that was not asked', [{ call_id: 'call_009', result: 1 }]],
    ['that was answered twice', [...results, ...results]],
    ['that is missing', []],
  ])('is not used up by results with a call %s', async (_, wrong) => {
    const { answer } = await paused();
    const refused = await goOnWith(bridge, pauseIn(answer.json).continuation_token, wrong);
    expect(refused).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    const continued = goOn(bridge, answer);
    await endScript(worker, await worker.next());
    expect((await continued).status).toBe(200);
  });

  it('ends with the worker whose script it was for', async () => {
    const { answer } = await paused();
    await TestWorker.registered(bridge, { takeOver: true });
    expectEnded(await goOn(bridge, answer));
  });

  it('takes nothing of the rate limit, which the script has paid for', async () => {
    const limited = await TestBridge.start({ rateLimit: { calls: 1, windowMs: 3_600_000 } });
    try {
      const own = await TestWorker.registered(limited);
      const begun = runScript(limited, { tools });
      await pauseAt(own, await own.next(), toolCall(1));
      const answer = await begun;
      expect((await runScript(limited, { tools })).status).toBe(429);
      const continued = goOn(limited, answer);
      await endScript(own, await own.next());
      expect((await continued).json).toMatchObject({ status: 'completed' });
    } finally {
      await limited.close();
    }
  });

  it('leads to no repetition where its script met what no repetition mends', async () => {
    const { answer } = await paused();
    const continued = goOn(bridge, answer);
    const error = { code: 'WORKSPACE_QUARANTINED' as const, message: 'It is closed.' };
    await worker.settle(await worker.next(), { status: 'rejected', error });
    expect(await continued).toMatchObject({ status: 409, json: { code: 'BRIDGE_WORKER_MISMATCH' } });
  });
});

describe('a request that has a name', () => {
  const named = (id: string) => ({ headers: { 'x-librechat-code-request-id': id } });
  const cancel = (id: string, as: 'caller' | 'otherCaller' = 'caller') =>
    bridge.send(`${programmaticPath}/cancel`, { as, body: { request_id: id } });

  it('is cancelled by it, by its own caller alone, and can be found ended after that', async () => {
    const answer = runScript(bridge, {}, named('r1'));
    const assignment = await worker.next();
    await worker.start(assignment);
    expect(await cancel('r1', 'otherCaller')).toMatchObject({
      status: 200,
      json: { status: 'already_completed' },
    });
    expect(await cancel('r1')).toMatchObject({ status: 202, json: { status: 'cancellation_requested' } });
    expect((await worker.poll()).cancellations).toEqual([assignment.callId]);
    const error = { code: 'EXECUTION_ABORTED' as const, message: 'It was stopped.' };
    await worker.settle(assignment, { status: 'rejected', error });
    expect(await answer).toMatchObject({ status: 422, json: { code: 'EXECUTION_ABORTED' } });
    expect(await cancel('r1')).toMatchObject({ status: 200, json: { status: 'already_completed' } });
    expect((await cancel('never')).status).toBe(200);
  });

  it('is cancelled while it lets a script go on', async () => {
    const { answer } = await paused();
    const continued = goOn(bridge, answer, named('r2'));
    const resumed = await worker.next();
    await worker.start(resumed);
    expect((await cancel('r2')).status).toBe(202);
    expect((await worker.poll()).cancellations).toEqual([resumed.callId]);
    await endScript(worker, resumed);
    expect((await continued).status).toBe(200);
  });

  it('is cancelled while its script waits for tools, which its worker is told', async () => {
    const begun = runScript(bridge, { tools }, named('r3'));
    const assignment = await worker.next();
    await pauseAt(worker, assignment, toolCall(1));
    const answer = await begun;
    expect((await cancel('r3')).status).toBe(202);
    expect((await worker.poll()).cancellations).toEqual([assignment.callId]);
    expectEnded(await goOn(bridge, answer));
  });

  it('may be sent once', async () => {
    const answer = runScript(bridge, {}, named('r4'));
    const assignment = await worker.next();
    expect((await runScript(bridge, {}, named('r4'))).status).toBe(409);
    await endScript(worker, assignment);
    expect((await answer).status).toBe(200);
    const other = runScript(bridge, {}, { ...named('r4'), as: 'otherCaller' });
    await endScript(worker, await worker.next());
    expect((await other).status).toBe(200);
  });
});
