import { connect } from 'node:net';
import { errorCodeSchema, errorKinds, limits } from '@codelanes/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandBody, execute, waiting } from './testing/requests.js';
import type { Answer, TokenName } from './testing/test-bridge.js';
import { TestBridge, testTokens } from './testing/test-bridge.js';
import { testCapabilities, TestWorker } from './testing/test-worker.js';

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly as: TokenName;
  /** A body that the route takes, to be spoilt. */
  readonly body?: object;
}

const fence = { version: 1, incarnationId: 'a'.repeat(32) };
const lease = { callId: 'b'.repeat(32), generation: 1, token: 'c'.repeat(64) };

const scriptBody = {
  lang: 'bash',
  code: 'true',
  tools: [{ name: 'web-search' }],
  files: [{ name: 'a.txt', content: 'a' }],
  timeout: 1_000,
};

const routes: readonly Route[] = [
  { method: 'GET', path: '/v1/bridge/workers', as: 'admin' },
  { method: 'GET', path: '/v1/bridge/workers/fuzzed/status', as: 'caller' },
  { method: 'GET', path: '/v1/bridge/workers/fuzzed/lanes', as: 'admin' },
  { method: 'POST', path: `/v1/bridge/calls/${'b'.repeat(32)}/cancel`, as: 'admin', body: {} },
  { method: 'GET', path: `/v1/calls/${'b'.repeat(32)}?waitMs=0`, as: 'caller' },
  { method: 'POST', path: '/v1/bridge/pairings', as: 'admin', body: { workerId: 'fuzzed' } },
  { method: 'POST', path: '/v1/bridge/workers/fuzzed/revoke', as: 'admin', body: {} },
  {
    method: 'POST',
    path: '/v1/bridge/workers/fuzzed/credentials/refresh',
    as: 'worker',
    body: { protocolVersion: 1 },
  },
  { method: 'POST', path: '/v1/workspace-tools/execute', as: 'caller', body: commandBody() },
  { method: 'POST', path: '/v1/exec/programmatic', as: 'caller', body: scriptBody },
  {
    method: 'POST',
    path: '/v1/workspaces/primary/lanes/a/exec/programmatic',
    as: 'caller',
    body: { continuation_token: 'tok_1', tool_results: [{ call_id: 'call_001', result: 1 }] },
  },
  { method: 'POST', path: '/v1/exec/programmatic/cancel', as: 'caller', body: { request_id: 'r1' } },
  { method: 'GET', path: '/v1/workspace-tools/capabilities', as: 'caller' },
  { method: 'POST', path: '/v1/workspace-tools/requests', as: 'caller', body: commandBody() },
  { method: 'GET', path: '/v1/workspace-tools/requests/fuzzed-fuzzed-fuzzed', as: 'caller' },
  { method: 'DELETE', path: '/v1/workspace-tools/requests/fuzzed-fuzzed-fuzzed', as: 'caller' },
  {
    method: 'POST',
    path: '/v1/workers/fuzzed/register',
    as: 'worker',
    body: {
      ...fence,
      registrationId: 'e'.repeat(32),
      workerId: 'fuzzed',
      journalId: 'd'.repeat(32),
      capabilities: testCapabilities(),
      slots: 1,
      holds: [{ ...lease, lane: ['primary'], mode: 'exclusive', pool: 'command' }],
      takeOver: true,
    },
  },
  {
    method: 'POST',
    path: '/v1/workers/fuzzed/poll',
    as: 'worker',
    body: { ...fence, registrationId: 'e'.repeat(32), waitMs: 0 },
  },
  {
    method: 'POST',
    path: '/v1/workers/fuzzed/report',
    as: 'worker',
    body: { ...fence, reports: [{ ...lease, state: 'started' }, { state: 'freed' }] },
  },
  { method: 'POST', path: '/v1/workers/fuzzed/renew', as: 'worker', body: { ...fence, leases: [lease] } },
  {
    method: 'POST',
    path: '/v1/workers/fuzzed/settle',
    as: 'worker',
    body: {
      ...fence,
      lease,
      settlement: { status: 'rejected', error: { code: 'INVALID_REQUEST', message: 'no' } },
    },
  },
];

let bridge: TestBridge;

beforeAll(async () => {
  // More is sent here than one caller may.
  bridge = await TestBridge.start({ rateLimit: 'off' });
  await TestWorker.registered(bridge);
});

afterAll(async () => {
  await bridge.close();
});

/** Nothing is ever fetched from this worker, so that what passes every check times out. */
const headers = { ...waiting(1), 'x-librechat-code-worker-id': 'worker-1' };

describe.each(routes)('$method $path', ({ method, path, as, body }) => {
  it('answers any JSON, and any body that is none, with a documented code', async () => {
    const anyBody = fc.oneof(fc.json(), fc.string({ unit: 'binary' }));
    await fc.assert(
      fc.asyncProperty(anyBody, async (sent) => {
        const nothing = method !== 'POST' || sent === '';
        assertDocumented(await bridge.send(path, { method, as, headers, body: nothing ? undefined : sent }));
      }),
      { numRuns: 60 },
    );
  });

  it('answers a body that is nearly right with a documented code', async () => {
    await fc.assert(
      fc.asyncProperty(spoilt(body ?? {}), async (sent) => {
        assertDocumented(await bridge.send(path, { method: 'POST', as, headers, body: sent }));
      }),
      { numRuns: 60 },
    );
  });

  it('answers any id, query and header with a documented code', async () => {
    const piece = fc.string({ unit: 'binary', maxLength: 300 }).map(encodeURIComponent);
    const anywhere = fc.tuple(piece, piece, fc.stringMatching(/^[!-~]{0,40}$/));
    await fc.assert(
      fc.asyncProperty(anywhere, async ([id, query, header]) => {
        const spoiltPath = path.replace(/fuzzed|b{32}/, id).split('?')[0] ?? '';
        const answer = await bridge.send(`${spoiltPath}?waitMs=0&after=${query}`, {
          method,
          as,
          body,
          headers: { ...headers, 'x-codelanes-call-id': header, 'x-librechat-code-worker-id': header },
        });
        assertDocumented(answer);
      }),
      { numRuns: 60 },
    );
  });

  it('lets nobody in without a token, with a wrong one, or with one of another kind', async () => {
    const other = as === 'worker' ? 'caller' : 'worker';
    const answers = [
      await bridge.send(path, { method, body }),
      await bridge.send(path, { method, body, headers: { authorization: 'Bearer something-else' } }),
      await bridge.send(path, { method, body, as: other }),
    ];
    expect(answers.map(({ json }) => json['code'])).toEqual([
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
      'FORBIDDEN',
    ]);
    for (const answer of answers) assertDocumented(answer);
  });
});

describe('what is no request of this bridge', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/v1/workspace-tools/execute'],
    ['GET', '/v1/workspace-tools/requests'],
    ['DELETE', '/v1/bridge/workers'],
    ['GET', '/v1/bridge/workers/'],
    ['OPTIONS', '/v1/bridge/workers'],
  ])('is ROUTE_NOT_FOUND: %s %s', async (method, path) => {
    const answer = await bridge.send(path, { method, as: 'admin' });
    expect(answer).toMatchObject({ status: 404, json: { code: 'ROUTE_NOT_FOUND' } });
  });

  it.each(['/v1/calls/%ZZ', '/v1/calls/%ff', '/%', `/v1/calls/${'a'.repeat(400)}`])(
    'is MALFORMED_REQUEST: %s',
    async (path) => {
      const answer = await bridge.send(path, { as: 'caller' });
      expect(answer).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'nonsense'])(
    'is MALFORMED_REQUEST: a body of type %s',
    async (type) => {
      const answer = await execute(bridge, commandBody(), { headers: { 'content-type': type } });
      expect(answer).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
      expect(answer.json['error']).toContain('application/json');
    },
  );

  it.each([
    '{',
    '',
    'null',
    '[]',
    '"text"',
    '1',
    '{"__proto__":{"a":1}}',
    '{"constructor":{"prototype":{}}}',
    '\u0000',
  ])('is MALFORMED_REQUEST: the body %j', async (body) => {
    const answer = await execute(bridge, body);
    expect(answer).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
  });

  it('is MALFORMED_REQUEST: bytes that are no HTTP, or headers beyond all measure', async () => {
    const garbage = await raw('this is not HTTP\r\n\r\n');
    const headers = await raw(`GET /healthz HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(100_000)}\r\n\r\n`);
    for (const reply of [garbage, headers]) {
      expect(reply).toMatch(/^HTTP\/1\.1 400 /);
      expect(reply).toContain('"code":"MALFORMED_REQUEST"');
    }
  });
});

describe('a malformed call', () => {
  it.each([
    ['an unknown key', { surprise: 1 }, /body.*"surprise"/],
    ['another version', { protocolVersion: 2 }, /body\.protocolVersion/],
    ['another operation', { operation: 'reboot' }, /body\.operation: .*'read_file' \| .*'execute_command'/],
    ['a worktree of two segments', { worktree: 'a/b' }, /body\.worktree/],
    ['a worktree with ..', { worktree: '..' }, /body\.worktree/],
    ['a repository that leaves its root', { repository: '../x' }, /body\.repository/],
    ['an absolute cwd', { cwd: '/etc' }, /body\.cwd: a path is relative to its lane/],
    ['NUL in a command', { command: 'a\0b' }, /body\.command/],
    ['a blank command', { command: ' ' }, /body\.command/],
    ['a time-out of zero', { timeoutMs: 0 }, /body\.timeoutMs/],
    ['a time-out beyond the limit', { timeoutMs: limits.commandTimeoutMs + 1 }, /body\.timeoutMs/],
  ])('is told which field is wrong: %s', async (_what, fields, named) => {
    const answer = await execute(bridge, commandBody(fields));
    expect(answer).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect(answer.json['error']).toMatch(named);
  });

  it('is told so in few bytes, however long its keys are', async () => {
    const answer = await execute(bridge, commandBody({ ['k'.repeat(1_000_000)]: 1 }));
    expect(answer.status).toBe(400);
    expect(Buffer.byteLength(answer.text)).toBeLessThan(1_000);
  });
});

describe('the limits of bodies', () => {
  const file = { protocolVersion: 1, operation: 'write_file', workspaceId: 'primary', path: 'a' };
  const timedOut = { status: 503, json: { code: 'WORKSPACE_QUEUE_TIMEOUT' } };

  it('let a file of 1 MiB pass, and not one byte more', async () => {
    const content = 'a'.repeat(limits.writeFileBytes);
    expect(await execute(bridge, { ...file, content }, { headers })).toMatchObject(timedOut);
    const tooLong = await execute(bridge, { ...file, content: `${content}a` });
    expect(tooLong).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect(tooLong.json['error']).toContain('body.content');
  });

  it('let a body of 4 MiB pass, and not one byte more', async () => {
    const text = JSON.stringify(commandBody());
    const padded = text.padEnd(limits.requestBodyBytes);
    expect(await execute(bridge, padded, { headers })).toMatchObject(timedOut);
    const tooLarge = await execute(bridge, `${padded} `);
    expect(tooLarge).toMatchObject({ status: 413, json: { code: 'BODY_TOO_LARGE' } });
    expect(tooLarge.json['error']).toContain(String(limits.requestBodyBytes));
  });

  it('are told without cutting off whoever is still sending, so that the answer can be read', async () => {
    const bytes = 2 * limits.requestBodyBytes;
    const socket = connect(bridge.port, '127.0.0.1');
    let reply = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (reply += chunk));
    socket.write(
      `POST /v1/workspace-tools/execute HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testTokens.caller}\r\n` +
        `content-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`,
    );
    await expect.poll(() => reply).toContain('"code":"BODY_TOO_LARGE"');
    socket.write(Buffer.alloc(bytes, ' '));
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => reply).toContain('{"ok":true}');
    socket.destroy();
  });
});

/** No reply is the bridge's own fault, and each error is one of the table with the status of the table. */
function assertDocumented({ status, json }: Answer): void {
  if (status === 200) return;
  const code = errorCodeSchema.parse(json['code']);
  expect(code).not.toBe('INTERNAL_FAULT');
  expect(status).toBe(errorKinds[code].status);
  expect(json['error']).toEqual(expect.any(String));
  expect(json['next']).toBe(errorKinds[code].next);
}

/** Half of a surrogate pair: legal in JSON, and no text. */
const halfCharacter = '\ud800';

/** That body with one value replaced, one key dropped or one added, at any depth. */
function spoilt(body: object): fc.Arbitrary<unknown> {
  const paths = pathsOf(body);
  return fc
    .record({
      path: fc.constantFrom(...paths),
      value: fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, halfCharacter)),
    })
    .map(({ path, value }) => replaced(body, path, value));
}

function pathsOf(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  const below = Object.entries(value).flatMap(([key, part]) => pathsOf(part).map((path) => [key, ...path]));
  return [[], ['surprise'], ...below];
}

function replaced(value: unknown, [key, ...rest]: string[], by: unknown): unknown {
  if (key === undefined) return by ?? null;
  if (Array.isArray(value)) {
    return value.map((part: unknown, index) => (String(index) === key ? replaced(part, rest, by) : part));
  }
  const fields: [string, unknown][] =
    typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const present = new Map(fields);
  return Object.fromEntries(present.set(key, replaced(present.get(key), rest, by)));
}

/** What the bridge answers to those bytes. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(bridge.port, '127.0.0.1');
    let reply = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (reply += chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(reply);
    });
    socket.write(bytes);
  });
}
