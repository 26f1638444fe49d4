import type { WorkspaceToolRequest } from '@codelanes/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import {
  executeWorkspaceTool,
  WorkspaceToolHttpError,
  type ExecuteWorkspaceToolOptions,
  type HttpFetch,
} from '../index.js';
import { StubBridge, type StubReply } from '../testing/stub-bridge.js';

const request = {
  protocolVersion: 1,
  operation: 'list_files',
  workspaceId: 'primary',
} as const satisfies WorkspaceToolRequest;
const result = { ...request, paths: ['a'], truncated: false };
const good: StubReply = { body: result };
const queueTimeout: StubReply = {
  status: 503,
  headers: { 'retry-after': '0' },
  body: { code: 'WORKSPACE_QUEUE_TIMEOUT', error: 'It waited.' },
};
const rateLimited: StubReply = {
  status: 429,
  headers: { 'retry-after': '0' },
  body: { error: 'rate_limited' },
};

let stub: StubBridge;
afterEach(() => stub.stop());

async function send(
  replies: readonly StubReply[],
  options: Partial<ExecuteWorkspaceToolOptions> = {},
): Promise<unknown> {
  stub = await StubBridge.start(...replies);
  return executeWorkspaceTool({ baseURL: stub.baseURL, authHeaders: {}, request, ...options });
}

/** What a call fails with, which has to be the client's own error. */
async function failureOf(call: Promise<unknown>): Promise<WorkspaceToolHttpError> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof WorkspaceToolHttpError) return failure;
  throw new Error('expected a WorkspaceToolHttpError', { cause: failure });
}

describe('a call', () => {
  it('is sent as LibreChat sends it', async () => {
    const authHeaders = { Authorization: 'Bearer t', 'X-LibreChat-Code-Worker-ID': 'w1' };
    stub = await StubBridge.start(good);
    const baseURL = ` ${stub.baseURL}// `;
    expect(await executeWorkspaceTool({ baseURL, authHeaders, request })).toEqual(result);
    expect(stub.requests).toMatchObject([
      {
        method: 'POST',
        path: '/v1/workspace-tools/execute',
        headers: {
          authorization: 'Bearer t',
          'content-type': 'application/json',
          'x-librechat-code-worker-id': 'w1',
        },
      },
    ]);
    const [sent] = stub.requests;
    expect(JSON.parse(sent?.body ?? '')).toEqual(request);
    expect(sent?.headers['x-librechat-workspace-queue-wait-ms']).toMatch(/^(?:30000|2\d{4})$/);
  });

  it('asks for headers anew at every attempt', async () => {
    let asked = 0;
    const authHeaders = () => Promise.resolve({ authorization: `Bearer t${++asked}` });
    expect(await send([queueTimeout, good], { authHeaders })).toEqual(result);
    expect(stub.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer t1', 'Bearer t2']);
  });

  it('goes into the lane of its path, and its result has the paths of the caller', async () => {
    const inLane = { ...request, path: '.worktrees/a/src' };
    const reply = { body: { ...result, paths: ['src/x'], truncated: true, nextAfterPath: 'src/x' } };
    expect(await send([reply], { request: inLane, linkedWorktrees: true })).toMatchObject({
      paths: ['.worktrees/a/src/x'],
      nextAfterPath: '.worktrees/a/src/x',
    });
    expect(JSON.parse(stub.requests[0]?.body ?? '')).toEqual({ ...request, path: 'src', worktree: 'a' });
  });

  it.each<[string, Partial<ExecuteWorkspaceToolOptions>]>([
    ['a path out of the workspace', { request: { ...request, path: '../x' } }],
    ['a cursor outside of the path', { request: { ...request, path: 'a', afterPath: 'b' } }],
    ['too long a wait in the queue', { maxQueueWaitMs: 300_001 }],
    ['too long a wait for the rate limit', { codeApiMaxRetryWaitMs: 300_001 }],
    ['half a millisecond', { maxRequestTimeoutMs: 0.5 }],
    ['a deadline that is none', { deadlineAtMs: 0 }],
  ])('is not sent with %s', async (_, options) => {
    expect(await failureOf(send([good], options))).toMatchObject({ reason: 'invalid' });
    expect(stub.requests).toEqual([]);
  });

  it.each([
    ['the call', { maxRequestTimeoutMs: 35_000 }],
    ['the caller', { deadlineAtMs: Date.now() + 35_000 }],
  ])('is not sent where %s has no time left to wait in', async (_, options) => {
    expect(await failureOf(send([good], options))).toMatchObject({ reason: 'insufficient_time' });
    expect(stub.requests).toEqual([]);
  });

  it('keeps the time that it needs to run out of the queue', async () => {
    const command = {
      protocolVersion: 1,
      operation: 'execute_command',
      workspaceId: 'primary',
      command: 'x',
    } as const;
    await failureOf(
      send([good], { request: { ...command, timeoutMs: 60_000 }, maxRequestTimeoutMs: 80_000 }),
    );
    const wait = Number(stub.requests[0]?.headers['x-librechat-workspace-queue-wait-ms']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(10_000);
  });
});

describe('a reply', () => {
  const expectInvalid = async (reply: StubReply) => {
    expect(await failureOf(send([reply]))).toMatchObject({ reason: 'invalid' });
  };

  it.each<[string, object]>([
    ['has a key more', { ...result, took: 1 }],
    ['is of another operation', { ...result, operation: 'read_file' }],
    ['is of another workspace', { ...result, workspaceId: 'other' }],
    ['leaves its order', { ...result, paths: ['b', 'a'] }],
    ['is no object', []],
  ])('is no result where it %s', async (_, body) => {
    await expectInvalid({ body });
  });

  it('is no result where it has more than 4 MiB, told or not', async () => {
    const body = JSON.stringify({ ...result, paths: ['x'.repeat(4 * 1024 * 1024)] });
    await expectInvalid({ body });
    await stub.stop();
    await expectInvalid({ body, headers: { 'transfer-encoding': 'chunked' } });
  });

  it('is not followed elsewhere, as the credentials would go along', async () => {
    const elsewhere = { status: 307, headers: { location: '/v1/other' } };
    expect(await failureOf(send([elsewhere, good]))).toMatchObject({ reason: 'failed' });
    expect(stub.requests).toHaveLength(1);
  });

  it('of a refused edit says what the worker says', async () => {
    const body = { code: 'EDIT_CONFLICT', error: 'Edit 1 was not found.' };
    expect(await failureOf(send([{ status: 409, body }]))).toMatchObject({
      reason: 'rejected',
      upstreamStatus: 409,
      editConflict: 'Edit 1 was not found.',
    });
  });

  it('that refuses is read to 4 KiB, and told as cut where it goes on', async () => {
    const failure = await failureOf(send([{ status: 500, body: 'x'.repeat(10_000) }]));
    expect(failure).toMatchObject({ upstreamStatus: 500, upstreamBodyTruncated: true });
    expect(failure.upstreamBody).toHaveLength(4096);
  });

  it('that refuses and never ends is given up, and never taken for a refusal before the start', async () => {
    expect(await failureOf(send([{ ...queueTimeout, endless: true }, good]))).toMatchObject({
      upstreamStatus: 503,
      upstreamBodyTruncated: true,
    });
    expect(stub.requests).toHaveLength(1);
  });
});

describe('a call is repeated', () => {
  it.each([
    ['its time in the queue is over', queueTimeout],
    ['it was one too many', rateLimited],
  ])('after %s', async (_, refusal) => {
    expect(await send([refusal, refusal, good])).toEqual(result);
    expect(stub.requests).toHaveLength(3);
    expect(new Set(stub.requests.map(({ body }) => body)).size).toBe(1);
  });

  it.each<[string, StubReply]>([
    ['503 with another code', { status: 503, body: { code: 'WORKER_OFFLINE', error: 'gone' } }],
    ['503 with that word elsewhere', { status: 503, body: { error: 'WORKSPACE_QUEUE_TIMEOUT' } }],
    ['429 with another error', { status: 429, body: { code: 'WORKER_QUEUE_FULL', error: 'full' } }],
    ['429 that cannot be read', { status: 429, body: '{"error":"rate_limited"' }],
    [
      '503 with a body over 4 KiB',
      { status: 503, body: { code: 'WORKSPACE_QUEUE_TIMEOUT', error: 'x'.repeat(4096) } },
    ],
    ['500', { status: 500, body: { code: 'WORKSPACE_QUEUE_TIMEOUT' } }],
    ['504', { status: 504, body: { error: 'rate_limited' } }],
  ])('after nothing else: %s', async (_, refusal) => {
    expect(await failureOf(send([refusal, good]))).toMatchObject({ reason: 'rejected' });
    expect(stub.requests).toHaveLength(1);
  });

  it('no longer than the caller lets it wait in the queue', async () => {
    expect(await failureOf(send([queueTimeout, good], { maxQueueWaitMs: 0 }))).toMatchObject({
      upstreamStatus: 503,
    });
    expect(stub.requests).toHaveLength(1);
  });

  it('no longer than the caller waits for the rate limit, over all attempts', async () => {
    expect(await failureOf(send([rateLimited], { codeApiMaxRetryWaitMs: 250 }))).toMatchObject({
      upstreamStatus: 429,
    });
    expect(stub.requests).toHaveLength(3);
  });

  it('not where waiting as long as it is asked to would leave it no time', async () => {
    const later = { ...queueTimeout, headers: { 'retry-after': '30' } };
    const failure = await failureOf(send([later, good], { maxRequestTimeoutMs: 60_000 }));
    expect(failure.upstreamStatus).toBe(503);
    expect(failure.message).toContain('Nothing was started');
    expect(stub.requests).toHaveLength(1);
  });
});

describe('an abort by the caller', () => {
  const reason = new Error('stopped');

  it('is thrown as it is, while the reply is waited for', async () => {
    const controller = new AbortController();
    const fetchImpl: HttpFetch = (_url, { signal }) => {
      const aborted = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(reason);
        });
      });
      controller.abort(reason);
      return aborted;
    };
    await expect(send([good], { fetchImpl, signal: controller.signal })).rejects.toBe(reason);
  });

  it('is thrown as it is, while the next attempt is waited for', async () => {
    const controller = new AbortController();
    const later = { ...queueTimeout, headers: { 'retry-after': '30' } };
    const authHeaders = () => {
      setTimeout(() => {
        controller.abort(reason);
      }, 200);
      return {};
    };
    await expect(send([later], { authHeaders, signal: controller.signal })).rejects.toBe(reason);
  });

  it('is thrown as it is, while a token is waited for', async () => {
    const controller = new AbortController();
    const authHeaders = () => {
      queueMicrotask(() => {
        controller.abort(reason);
      });
      return new Promise<never>(() => undefined);
    };
    await expect(send([good], { authHeaders, signal: controller.signal })).rejects.toBe(reason);
    expect(stub.requests).toEqual([]);
  });
});

it('an outcome that nobody knows is never a refusal', async () => {
  const fetchImpl: HttpFetch = () => Promise.reject(new TypeError('fetch failed'));
  const failure = await failureOf(send([good], { fetchImpl }));
  expect(failure).toMatchObject({ reason: 'failed', upstreamStatus: undefined });
  expect(failure.message).toContain('unknown');
});
