import { connect } from 'node:net';
import { errorCodeSchema, errorKinds, limits } from '@codelanes/protocol';
import fc from 'fast-check';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisServer } from '../scheduler/testing/redis-server.js';
import { everyRoute } from './testing/every-route.js';
import { commandBody, execute, waiting } from './testing/requests.js';
import type { Answer, Sending } from './testing/test-bridge.js';
import { TestBridge, testTokens } from './testing/test-bridge.js';
import { TestWorker } from './testing/test-worker.js';

let redis: RedisServer;
let bridge: TestBridge;
/** One whose store offers durable requests. */
let lasting: TestBridge;

beforeAll(async () => {
  redis = await RedisServer.start();
  // More is sent here than one caller may.
  bridge = await TestBridge.start({ rateLimit: 'off' });
  lasting = await TestBridge.start({ rateLimit: 'off', store: { kind: 'redis', url: redis.url } });
  await TestWorker.registered(bridge);
  await TestWorker.registered(lasting);
});

afterAll(async () => {
  await bridge.close();
  await lasting.close();
  await redis.stop();
});

/** Nothing is ever fetched from this worker, so that what passes every check times out. */
const headers = {
  ...waiting(1),
  'x-librechat-code-worker-id': 'worker-1',
  'x-librechat-workspace-request-id': 'fuzzed-fuzzed-fuzzed',
};

describe.each(everyRoute)('$method $path', { timeout: 240_000 }, ({ method, path, as, body, isDurable }) => {
  // Each time from another address, as the bridge bounds what one that has no token may ask.
  const send = (to: string, sending: Sending): Promise<Answer> =>
    (isDurable ? lasting : bridge).send(to, { as, headers, from: nextAddress(), isText: true, ...sending });

  it('answers any JSON, and any body that is none, with a documented code', async () => {
    const anyBody = fc.oneof(fc.json(), fc.string({ unit: 'binary' }));
    await fc.assert(
      fc.asyncProperty(anyBody, async (sent) => {
        const nothing = method === 'GET' || sent === '';
        assertDocumented(await send(path, { method, body: nothing ? undefined : sent }));
      }),
      { numRuns: 60 },
    );
  });

  it('answers a body that is nearly right with a documented code', async () => {
    await fc.assert(
      fc.asyncProperty(spoilt(body ?? {}), async (sent) => {
        assertDocumented(await send(path, { method: 'POST', body: sent }));
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
        const answer = await send(`${spoiltPath}?waitMs=0&after=${query}`, {
          method,
          body,
          headers: {
            ...headers,
            'x-codelanes-call-id': header,
            'x-librechat-code-worker-id': header,
            'x-librechat-workspace-request-id': header,
          },
        });
        assertDocumented(answer);
      }),
      { numRuns: 60 },
    );
  });
});

const guarded = everyRoute.filter(({ as }) => as !== undefined);

describe.each(guarded)('$method $path', ({ method, path, as, body }) => {
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

it('takes a request that says that it sends JSON and sends nothing for one without a body', async () => {
  const sending = { as: 'caller', headers: { 'content-type': 'application/json' } } as const;
  const asked = await lasting.send('/v1/workspace-tools/requests/there-is-none-such', {
    ...sending,
    method: 'DELETE',
  });
  expect(asked.json).toMatchObject({ code: 'REQUEST_NOT_FOUND' });
  const execution = await bridge.send('/v1/workspace-tools/execute', { ...sending, method: 'POST' });
  expect(execution.json).toMatchObject({
    code: 'MALFORMED_REQUEST',
    error: 'The request is malformed: body: expected object, and it is missing.',
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
    await expect.poll(() => reply, { timeout: 15_000 }).toContain('"code":"BODY_TOO_LARGE"');
    socket.write(Buffer.alloc(bytes, ' '));
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => reply, { timeout: 15_000 }).toContain('{"ok":true}');
    socket.destroy();
  });
});

/** No reply is the bridge's own fault, and each error is one of the table with the status of the table. */
function assertDocumented({ status, text }: Answer): void {
  if (status === 200 || status === 202) return;
  const json = errorSchema.parse(JSON.parse(text));
  expect(json.code).not.toBe('INTERNAL_FAULT');
  expect(status).toBe(errorKinds[json.code].status);
  expect(json.next).toBe(errorKinds[json.code].next);
}

const errorSchema = z.object({ code: errorCodeSchema, error: z.string(), next: z.string() });

let machines = 0;

/** An address of this machine that has sent nothing yet. */
function nextAddress(): string {
  machines += 1;
  return `127.1.${machines >> 8}.${machines & 255}`;
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
    // The bridge does not read to the end what is no HTTP; what it said before it hung up counts.
    socket.on('error', (error) => {
      if (reply === '') reject(error);
    });
    socket.on('close', () => {
      resolve(reply);
    });
    socket.write(bytes);
  });
}
