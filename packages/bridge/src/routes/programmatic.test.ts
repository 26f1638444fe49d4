import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorCode } from '@codelanes/protocol';
import { commandBody, execute, untilQueued, waiting } from '../server/testing/requests.js';
import { endScript, runScript } from '../server/testing/scripts.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { testCapabilities, TestWorker } from '../server/testing/test-worker.js';

let bridge: TestBridge;
let worker: TestWorker;

beforeEach(async () => {
  bridge = await TestBridge.start();
  worker = await TestWorker.registered(bridge);
});

afterEach(async () => {
  await bridge.close();
});

const laneOfUrl = (workspaceId: string, worktree: string) =>
  `/v1/workspaces/${encodeURIComponent(workspaceId)}/lanes/${worktree}/exec/programmatic`;

describe('a script', () => {
  it('is a call of its lane, which the worker gets with its tools, its files and its time', async () => {
    const answer = runScript(bridge, {
      code: 'web_search "{}"',
      tools: [{ name: 'web-search', description: 'x', parameters: {}, allowed_callers: ['code_execution'] }],
      timeout: 7_000,
      files: [
        { name: 'a.txt', content: 'hé' },
        { name: 'b.bin', content: 'AAE=', encoding: 'base64' },
      ],
      runtime_session_hint: 'v2:user:abc',
      session_id: 'earlier',
      cwd: '.worktrees/b',
    });
    const assignment = await worker.next();
    expect(assignment).toMatchObject({
      lane: ['primary'],
      mode: 'exclusive',
      pool: 'command',
      executionMs: 7_000,
      request: {
        protocolVersion: 1,
        operation: 'run_script',
        workspaceId: 'primary',
        code: 'web_search "{}"',
        tools: [{ name: 'web-search' }],
        timeoutMs: 7_000,
        files: [
          { name: 'a.txt', content: 'aMOp' },
          { name: 'b.bin', content: 'AAE=' },
        ],
      },
    });
    const files = [{ name: 'out.csv', content: 'YSxi' }];
    await endScript(worker, assignment, { stdout: 'hello\n', stderr: 'careful\n', files });
    const { status, json, headers } = await answer;
    expect(status).toBe(200);
    expect(json).toEqual({
      status: 'completed',
      session_id: assignment.callId,
      stdout: 'hello\n',
      stderr: 'careful\n',
      files: [{ name: 'out.csv', content: 'YSxi', encoding: 'base64' }],
    });
    expect(headers['x-codelanes-call-id']).toBe(assignment.callId);
  });

  it.each([
    ['exits with another status', { exitCode: 3, stdout: 'so far' }, 'so far\n[exit code: 3]\n'],
    ['is ended by a signal', { exitCode: null, signal: 'SIGSEGV' }, '[ended by SIGSEGV]\n'],
    ['runs out of time', { exitCode: null, timedOut: true, stdout: 'a\n' }, 'a\n[timed out]\n'],
  ])('has completed where it %s, and keeps its output', async (_, result, stdout) => {
    const answer = runScript(bridge);
    await endScript(worker, await worker.next(), result);
    expect((await answer).json).toMatchObject({ status: 'completed', stdout });
  });

  it.each([
    ['outcome is unknown', 'ASSIGNMENT_EXPIRED', 'The script was ended while it waited for its tools.'],
    ['worker met a fault', 'INTERNAL_FAULT', 'The worker met a fault of its own; its log says more.'],
  ] as const)('has completed where its %s, and says so', async (_, code, message) => {
    const answer = runScript(bridge);
    await worker.settle(await worker.next(), { status: 'rejected', error: { code, message } });
    const { status, json } = await answer;
    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'completed',
      stdout: `[${message} Look at the workspace before you run it again.]\n`,
    });
  });

  it('waits for its lane as every call does, and says in time that it never ran', async () => {
    const first = execute(bridge, commandBody());
    const running = await worker.next();
    const late = await runScript(bridge, { workspace_worktree: 'a' }, { headers: waiting(20) });
    expect(late).toMatchObject({ status: 503, json: { code: 'WORKSPACE_QUEUE_TIMEOUT' } });
    await worker.settleCommand(running);
    await first;
  });

  it('counts for the rate limit of its caller, with all its calls', async () => {
    const limited = await TestBridge.start({ rateLimit: { calls: 1, windowMs: 3_600_000 } });
    try {
      expect((await runScript(limited)).json).toMatchObject({ code: 'WORKER_OFFLINE' });
      const second = await runScript(limited);
      expect(second).toMatchObject({ status: 429, json: { error: 'rate_limited' } });
      expect(second.json['retry_after_seconds']).toBeGreaterThan(0);
    } finally {
      await limited.close();
    }
  });

  it('is told of in the logs by the id of its request, and in the metrics by its operation', async () => {
    const answer = runScript(bridge, {}, { headers: { 'x-request-id': 'the-request' } });
    const assignment = await worker.next();
    expect(assignment.requestId).toBe('the-request');
    await endScript(worker, assignment);
    await answer;
    const { text } = await bridge.send('/metrics', { as: 'admin', isText: true });
    expect(text).toContain('codelanes_run_seconds_count{operation="run_script"} 1\n');
  });

  it('is stopped where its caller goes away', async () => {
    const caller = new AbortController();
    const answer = runScript(bridge, {}, { signal: caller.signal });
    const assignment = await worker.next();
    await worker.start(assignment);
    caller.abort();
    await expect(answer).rejects.toThrow();
    expect((await worker.poll()).cancellations).toEqual([assignment.callId]);
  });

  it('that nobody waits for any more leaves the queue', async () => {
    const first = execute(bridge, commandBody());
    const running = await worker.next();
    const caller = new AbortController();
    const answer = runScript(bridge, {}, { signal: caller.signal });
    await untilQueued(bridge, 1);
    caller.abort();
    await expect(answer).rejects.toThrow();
    await untilQueued(bridge, 0);
    await worker.settleCommand(running);
    await first;
  });
});

describe('the lane of a script', () => {
  it.each<[string, string, object, Record<string, string>, readonly string[]]>([
    ['its URL', laneOfUrl('primary', 'a'), {}, {}, ['primary', 'worktree:a']],
    [
      'its URL under another name of a repository',
      laneOfUrl('primary:app', 'a'),
      {},
      { 'x-librechat-code-workspace-id': 'primary:app' },
      ['primary', 'repo:app', 'worktree:a'],
    ],
    [
      'its headers',
      '/v1/exec/programmatic',
      {},
      { 'x-codelanes-worktree': 'a', 'x-codelanes-repository': 'app' },
      ['primary', 'repo:app', 'worktree:a'],
    ],
    [
      'its body',
      '/v1/exec/programmatic',
      { workspace_worktree: 'a', workspace_repository: 'app' },
      {},
      ['primary', 'repo:app', 'worktree:a'],
    ],
    [
      'all of them, where they say the same',
      laneOfUrl('primary', 'a'),
      { workspace_worktree: 'a' },
      { 'x-codelanes-worktree': 'a' },
      ['primary', 'worktree:a'],
    ],
  ])('is named by %s', async (_, path, body, headers, lane) => {
    const answer = runScript(bridge, body, { path, headers });
    const assignment = await worker.next();
    expect(assignment.lane).toEqual(lane);
    await endScript(worker, assignment);
    expect((await answer).status).toBe(200);
  });

  it.each<[string, string, object, Record<string, string>]>([
    ['a body to its URL', laneOfUrl('primary', 'a'), { workspace_worktree: 'b' }, {}],
    ['a body with a repository to its URL', laneOfUrl('primary', 'a'), { workspace_repository: 'app' }, {}],
    ['a header to its URL', laneOfUrl('primary', 'a'), {}, { 'x-codelanes-worktree': 'b' }],
    [
      'a body to its header',
      '/v1/exec/programmatic',
      { workspace_worktree: 'b' },
      { 'x-codelanes-worktree': 'a' },
    ],
    [
      'the workspace in a header to its URL',
      laneOfUrl('primary', 'a'),
      {},
      { 'x-librechat-code-workspace-id': 'primary:app' },
    ],
  ])('is not contradicted by %s', async (_, path, body, headers) => {
    const answer = await runScript(bridge, body, { path, headers });
    expect(answer).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect((await worker.poll(0)).assignments).toEqual([]);
  });

  it.each(['..', 'a.lock', '-a', 'a%2Fb', '%00'])('is no path: %s is refused', async (worktree) => {
    const { status } = await runScript(bridge, {}, { path: laneOfUrl('primary', worktree) });
    expect([400, 404]).toContain(status);
  });
});

describe('a script is refused, before anything of it is queued,', () => {
  it.each<[string, object, ErrorCode]>([
    ['of another language', { lang: 'py' }, 'UNSUPPORTED_CAPABILITY'],
    [
      'with a file that is stored elsewhere',
      { files: [{ id: 'f1', name: 'a.txt', storage_session_id: 's', kind: 'user', resource_id: 'u' }] },
      'UNSUPPORTED_CAPABILITY',
    ],
    [
      'with tools that are the same function',
      { tools: [{ name: 'web-search' }, { name: 'web.search' }] },
      'MALFORMED_REQUEST',
    ],
    ['with a file of a reserved name', { files: [{ name: 'main.sh', content: '' }] }, 'MALFORMED_REQUEST'],
    ['for more than five minutes', { timeout: 300_001 }, 'MALFORMED_REQUEST'],
    ['without code', { code: '' }, 'MALFORMED_REQUEST'],
    ['in an instance', { workspace_instance_id: 'a'.repeat(64) }, 'BRIDGE_WORKER_MISMATCH'],
    ['in a repository that is none', { workspace_repository: 'nowhere' }, 'BRIDGE_WORKER_MISMATCH'],
  ])('%s', async (_, body, code) => {
    const answer = await runScript(bridge, body);
    expect(answer.json).toMatchObject({ code });
    expect((await worker.poll(0)).assignments).toEqual([]);
  });

  it('without a workspace', async () => {
    const body = { lang: 'bash', code: 'true', tools: [] };
    const answer = await bridge.send('/v1/exec/programmatic', { as: 'caller', body });
    expect(answer).toMatchObject({ status: 422, json: { code: 'UNSUPPORTED_CAPABILITY' } });
  });

  it.each(['/v1/exec', '/v1/workspaces/primary/lanes/a/exec'])('as plain code at %s', async (path) => {
    const answer = await runScript(bridge, {}, { path });
    expect(answer).toMatchObject({ status: 422, json: { code: 'UNSUPPORTED_CAPABILITY' } });
  });

  it('by a worker that runs none', async () => {
    const { programmaticLanguages: _, ...capabilities } = testCapabilities();
    await TestWorker.registered(bridge, { id: 'worker-2', capabilities });
    const headers = { 'x-librechat-code-worker-id': 'worker-2' };
    const answer = await runScript(bridge, {}, { headers });
    expect(answer).toMatchObject({ status: 409, json: { code: 'BRIDGE_WORKER_MISMATCH' } });
  });

  it('without a token', async () => {
    const answer = await bridge.send('/v1/exec/programmatic', { body: {} });
    expect(answer).toMatchObject({ status: 401, json: { code: 'UNAUTHENTICATED' } });
  });
});

describe('a worker that cannot run a script', () => {
  it.each<ErrorCode>(['WORKSPACE_QUARANTINED', 'WORKSPACE_SETUP_FAILED', 'COMMAND_DISABLED'])(
    'and says %s is told of in the word by which models do not try again',
    async (code) => {
      const answer = runScript(bridge);
      await worker.settle(await worker.next(), {
        status: 'rejected',
        error: { code, message: 'It is so.' },
      });
      const { status, json, text } = await answer;
      expect(status).toBe(409);
      expect(json).toMatchObject({ code: 'BRIDGE_WORKER_MISMATCH', error: 'It is so.' });
      expect(text.length).toBeLessThan(4096);
    },
  );

  it('and another result than one of a script is told as the end of one that ran', async () => {
    const answer = runScript(bridge);
    await worker.settleCommand(await worker.next());
    const { status, json } = await answer;
    expect(status).toBe(200);
    expect(json).toMatchObject({ status: 'completed' });
    expect(json['stdout']).toMatch(
      /^\[The worker's result does not answer the request: .+ run it again\.\]\n$/,
    );
  });
});
