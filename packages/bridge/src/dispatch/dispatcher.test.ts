import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limits } from '@codelanes/protocol';
import { ManualClock } from '../scheduler/manual-clock.js';
import { MemoryStore } from '../scheduler/memory-store.js';
import { defaultSchedulerSettings } from '../scheduler/scheduler-settings.js';
import { commandBody, commandIn, execute, untilQueued, waiting } from '../server/testing/requests.js';
import { listenOver } from '../server/testing/serve-store.js';
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

describe('a call that waits too long', () => {
  it('[T79] never ran, is told so with what it waited for, and its identical retry keeps its place', async () => {
    const first = execute(bridge, commandIn('a', { command: 'long' }));
    const running = await worker.next();
    const timedOut = await execute(bridge, commandBody({ command: 'make' }), { headers: waiting(50) });
    expect(timedOut).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      json: {
        code: 'WORKSPACE_QUEUE_TIMEOUT',
        waitedFor: {
          blockers: [{ lane: ['primary', 'worktree:a'], state: 'running', callId: running.callId }],
        },
      },
    });
    expect(timedOut.headers['x-codelanes-call-id']).toMatch(/^[0-9a-f]{32}$/);
    expect(Buffer.byteLength(timedOut.text)).toBeLessThanOrEqual(limits.queueTimeoutBodyBytes);
    const younger = execute(bridge, commandIn('b'));
    await untilQueued(bridge, 1);
    const retry = execute(bridge, commandBody({ command: 'make' }));
    await untilQueued(bridge, 2);
    await worker.settleCommand(running);
    const next = await worker.next();
    expect(next.lane).toEqual(['primary']);
    await worker.settleCommand(next);
    await worker.settleCommand(await worker.next());
    expect((await Promise.all([first, younger, retry])).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('tells of other principals only lane and age', async () => {
    const first = execute(bridge, commandIn('a'));
    const running = await worker.next();
    const other = await execute(bridge, commandIn('a'), { as: 'otherCaller', headers: waiting(20) });
    expect(other.json['waitedFor']).toMatchObject({ blockers: [{ lane: ['primary', 'worktree:a'] }] });
    expect(other.text).not.toContain(running.callId);
    await worker.settleCommand(running);
    await first;
  });

  it('names the setup of its lane, whoever waits for it, with its age and its bound', async () => {
    const first = execute(bridge, commandIn('a'));
    const { callId, generation, token } = await worker.next();
    const unready = { state: 'unready', lane: ['primary', 'worktree:a'], timeoutMs: 600_000 };
    await worker.post('report', { reports: [unready, { callId, generation, token, state: 'busy' }] });
    const setup = await worker.next();
    expect(setup.request).toEqual({
      protocolVersion: 1,
      operation: 'setup',
      workspaceId: 'primary',
      worktree: 'a',
    });
    const other = await execute(bridge, commandIn('a'), { as: 'otherCaller', headers: waiting(20) });
    expect(other.text).toMatch(
      /behind the setup of primary\/\.worktrees\/a, which has run for \d+ ms and may take 600000 ms/,
    );
    expect(other.json).toMatchObject({
      waitedFor: { blockers: [{ operation: 'setup', state: 'running', boundMs: 600_000 }, {}] },
    });
    expect(other.text).not.toContain(setup.callId);
    await worker.settle(setup, {
      status: 'fulfilled',
      result: { protocolVersion: 1, operation: 'setup', state: 'ready' },
    });
    const again = await worker.next();
    expect(again.callId).toBe(callId);
    await worker.settleCommand(again);
    expect((await first).status).toBe(200);
  });

  it('is waited for beyond its queue budget once the worker has it', async () => {
    // Only what is read as the time: nothing is due by itself while this stands still.
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      const answer = execute(bridge, commandBody(), { headers: waiting(10_000) });
      const assignment = await worker.next();
      vi.advanceTimersByTime(20_000);
      // The bridge looks at the call whenever it changes.
      await worker.start(assignment);
      await worker.settleCommand(assignment);
      expect((await answer).status).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each(['0', '-1', '1.5', '300001', 'soon', '', '1e3', '0x10'])(
    'refuses the queue wait "%s"',
    async (wait) => {
      const headers = { 'x-librechat-workspace-queue-wait-ms': wait };
      const answer = await execute(bridge, commandBody(), { headers });
      expect(answer).toMatchObject({ status: 400, json: { code: 'INVALID_WORKSPACE_QUEUE_WAIT' } });
    },
  );

  it('may wait for exactly the longest time', async () => {
    const answer = execute(bridge, commandBody(), { headers: waiting(limits.queueWaitMs) });
    await worker.settleCommand(await worker.next());
    expect((await answer).status).toBe(200);
  });
});

describe('a caller that goes away', () => {
  it('[T63] takes a waiting call back: it leaves the queue and keeps no place', async () => {
    const first = execute(bridge, commandBody());
    const running = await worker.next();
    const stop = new AbortController();
    const gone = execute(bridge, commandBody({ command: 'make' }), { signal: stop.signal });
    await untilQueued(bridge, 1);
    stop.abort();
    await expect(gone).rejects.toThrow();
    await untilQueued(bridge, 0);
    const next = execute(bridge, commandIn('b'));
    await untilQueued(bridge, 1);
    await worker.settleCommand(running);
    const inB = await worker.next();
    expect(inB.lane).toEqual(['primary', 'worktree:b']);
    await worker.settleCommand(inB);
    await Promise.all([first, next]);
  });

  it('[T63] has a running call cancelled at the worker', async () => {
    const stop = new AbortController();
    const gone = execute(bridge, commandBody(), { signal: stop.signal });
    const running = await worker.next();
    await worker.start(running);
    const poll = worker.poll();
    stop.abort();
    await expect(gone).rejects.toThrow();
    expect((await poll).cancellations).toEqual([running.callId]);
  });
});

describe('the end of a call', () => {
  it('is the refusal of the worker, with its code, status and sentence', async () => {
    const answer = execute(bridge, commandBody());
    const error = { code: 'COMMAND_DISABLED' as const, message: 'This machine has no sandbox.' };
    await worker.settle(await worker.next(), { status: 'rejected', error });
    expect(await answer).toMatchObject({ status: 403, json: { code: error.code, error: error.message } });
  });

  it('is RESULT_INVALID where the result does not answer the request', async () => {
    const answer = execute(bridge, commandBody({ maxOutputBytes: 4 }));
    await worker.settleCommand(await worker.next(), 'too long for that');
    expect(await answer).toMatchObject({ status: 502, json: { code: 'RESULT_INVALID' } });
  });

  it('is RESULT_INVALID at once where the settlement breaks the protocol', async () => {
    const answer = execute(bridge, commandBody());
    const { callId, generation, token } = await worker.next();
    const settlement = { status: 'fulfilled', result: { operation: 'execute_command', surprise: true } };
    const told = await worker.post('settle', { lease: { callId, generation, token }, settlement });
    expect(told).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect(await answer).toMatchObject({ status: 502, json: { code: 'RESULT_INVALID' } });
  });

  it('is RESULT_INVALID where no client would take a result of that size', async () => {
    const answer = execute(bridge, commandBody({ maxOutputBytes: limits.commandOutputBytes }));
    await worker.settleCommand(await worker.next(), '\u0001'.repeat(limits.commandOutputBytes));
    expect(await answer).toMatchObject({ status: 502, json: { code: 'RESULT_INVALID' } });
  });

  it('is unknown, and said to be, where the worker lost its lease', async () => {
    const clock = new ManualClock();
    const quick = await listenOver(new MemoryStore(defaultSchedulerSettings, clock));
    try {
      const dying = await TestWorker.registered(quick);
      const answer = execute(quick, commandBody());
      await dying.start(await dying.next());
      clock.advance(defaultSchedulerSettings.leaseTtlMs);
      const { status, json } = await answer;
      expect({ status, code: json['code'] }).toEqual({ status: 504, code: 'ASSIGNMENT_EXPIRED' });
      expect(json['error']).toMatch(/^The outcome of the call is unknown: /);
    } finally {
      await quick.close();
    }
  });

  it('is unknown where a worker keeps its lease and never answers', async () => {
    // Its lease never ends, as the clock of the store stands still: what runs out is the patience of the bridge.
    const store = new MemoryStore(defaultSchedulerSettings, new ManualClock());
    const quick = await listenOver(store, { scheduler: { leaseTtlMs: 100 }, settlementGraceMs: 10 });
    try {
      const silent = await TestWorker.registered(quick);
      const answer = execute(quick, commandBody({ timeoutMs: 1 }));
      const { callId } = await silent.next();
      const { status, json } = await answer;
      expect({ status, code: json['code'] }).toEqual({ status: 504, code: 'ASSIGNMENT_EXPIRED' });
      expect(json['error']).toContain('kept its lease');
      expect((await silent.poll(0)).cancellations).toEqual([callId]);
    } finally {
      await quick.close();
    }
  });
});
