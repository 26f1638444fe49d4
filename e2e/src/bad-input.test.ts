import { errorCodeSchema, errorKinds } from '@codelanes/protocol';
import fc from 'fast-check';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Fields } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a');
  deployment = await Deployment.start(repository);
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

const execute = '/v1/workspace-tools/execute';
const good = {
  protocolVersion: 1,
  operation: 'read_file',
  workspaceId: 'primary',
  worktree: 'a',
  path: 'file.txt',
};
const errorSchema = z.object({ code: errorCodeSchema, error: z.string().min(10), next: z.string().min(10) });

/** What was answered is a result, or an error of the table with its status, a sentence and what to do next. */
function documented(answer: Answer): string {
  if (answer.status === 200) return 'OK';
  const { code, next } = errorSchema.parse(answer.json);
  expect({ answer: answer.text, status: answer.status, next }).toEqual({
    answer: answer.text,
    status: errorKinds[code].status,
    next: errorKinds[code].next,
  });
  expect(answer.text).not.toContain('INTERNAL_FAULT');
  return code;
}

describe('a call that is malformed gets its code and a sentence that names the field', () => {
  it.each<[string, object, RegExp]>([
    ['an unknown key', { surprise: 1 }, /no field "surprise"/],
    ['another protocol version', { protocolVersion: 2 }, /body\.protocolVersion/],
    ['a version that is no number', { protocolVersion: '1' }, /body\.protocolVersion/],
    ['another operation', { operation: 'remove_file' }, /body\.operation/],
    ['a key of another operation', { command: 'true' }, /no field "command"/],
    ['a missing path', { path: undefined }, /body\.path/],
    ['..', { path: '../file.txt' }, /body\.path: a path may not hold the segment "\.\."/],
    ['.. in the middle', { path: 'a/../../file.txt' }, /segment "\.\."/],
    ['an absolute path', { path: '/etc/passwd' }, /is relative to its lane/],
    ['NUL', { path: 'file\0.txt' }, /NUL/],
    ['a backslash', { path: 'a\\b' }, /backslash/],
    ['a drive', { path: 'C:/file.txt' }, /drive/],
    ['half a character', { path: '\ud800' }, /well-formed/],
    ['a worktree of two segments', { worktree: 'a/b' }, /body\.worktree/],
    ['a worktree that climbs', { worktree: '..' }, /body\.worktree/],
    ['a worktree that ends in .lock', { worktree: 'a.lock' }, /may not end in \.lock/],
    ['an id that is none', { workspaceId: 'a/b' }, /body\.workspaceId/],
    ['an instance that is none', { workspaceInstanceId: 'x' }, /body\.workspaceInstanceId/],
    ['a repository that climbs', { repository: '../other' }, /body\.repository/],
    ['lines that are no whole number', { maxLines: 1.5 }, /body\.maxLines/],
    ['a command with NUL', { operation: 'execute_command', path: undefined, command: 'a\0' }, /NUL/],
    ['a blank command', { operation: 'execute_command', path: undefined, command: '\n' }, /blank/],
    ['a query of two lines', { operation: 'search_text', path: undefined, query: 'a\nb' }, /CR or LF/],
    ['an empty query', { operation: 'search_text', path: undefined, query: '' }, /body\.query/],
    [
      'both forms of an edit',
      { operation: 'edit_file', oldText: 'a', newText: 'b', edits: [] },
      /body\.edits/,
    ],
    [
      'a digest that is none',
      { operation: 'edit_file', oldText: 'a', newText: 'b', expectedBaseSha256: 'x' },
      /expectedBaseSha256/,
    ],
  ])('%s', async (_what, fields, names) => {
    const answer = await deployment.caller().send('POST', execute, { ...good, ...fields });
    expect(documented(answer)).toBe('MALFORMED_REQUEST');
    expect(answer.text).toMatch(new RegExp(names.source.replaceAll('"', '\\\\"')));
  });

  it.each<[string, string]>([
    ['text that is no JSON', '{"protocolVersion":1,'],
    ['nothing', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['a prototype', '{"__proto__":{"operation":"read_file"}}'],
  ])('a body that is %s', async (_what, body) => {
    expect(documented(await deployment.caller().send('POST', execute, body))).toBe('MALFORMED_REQUEST');
  });

  it('a body of another type, a huge one, and a wrong header', async () => {
    const caller = deployment.caller();
    const type = (name: string) => caller.send('POST', execute, good, { headers: { 'content-type': name } });
    for (const name of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      expect(documented(await type(name))).toBe('MALFORMED_REQUEST');
    }
    const huge = JSON.stringify({ ...good, path: 'x'.repeat(8 * 1024 * 1024) });
    for (let time = 0; time < 5; time += 1) {
      expect(documented(await caller.send('POST', execute, huge))).toBe('BODY_TOO_LARGE');
    }
    const withHeader = (headers: Record<string, string>) => caller.send('POST', execute, good, { headers });
    expect(documented(await withHeader({ 'x-codelanes-call-id': 'ABC' }))).toBe('MALFORMED_REQUEST');
    expect(documented(await withHeader({ 'x-librechat-code-worker-id': 'a/b' }))).toBe('MALFORMED_REQUEST');
    expect(documented(await withHeader({ 'x-librechat-code-worker-id': 'nobody' }))).toBe('WORKER_OFFLINE');
    for (const wait of ['0', '-1', '1.5', '1e3', '300001', 'soon']) {
      const answer = await withHeader({ 'x-librechat-workspace-queue-wait-ms': wait });
      expect(documented(answer)).toBe('INVALID_WORKSPACE_QUEUE_WAIT');
    }
  });

  it('a workspace or worktree that is not there, and a file that is none', async () => {
    const code = async (fields: object) =>
      documented(await deployment.caller().send('POST', execute, { ...good, ...fields }));
    expect(await code({ workspaceId: 'other' })).toBe('WORKER_MISMATCH');
    expect(await code({ worktree: 'missing' })).toBe('INVALID_REQUEST');
    expect(await code({ path: 'missing' })).toBe('NOT_FOUND');
    expect(await code({ path: 'file.txt/below' })).toBe('INVALID_PATH');
    expect(await code({ path: '.git' })).toBe('INVALID_PATH');
    expect(await code({ operation: 'write_file', path: '.git', content: '' })).toBe('INVALID_PATH');
  });
});

describe('whoever has no right to a route', () => {
  it.each<[string, string, string, 'caller' | 'admin' | 'worker']>([
    ['POST', execute, 'a call', 'caller'],
    ['GET', '/v1/bridge/workers', 'the workers', 'admin'],
    ['GET', '/v1/bridge/workers/w1/lanes', 'the lanes', 'admin'],
    ['POST', `/v1/bridge/calls/${'a'.repeat(32)}/cancel`, 'a cancel', 'admin'],
    ['POST', '/v1/workers/w1/register', 'a registration', 'worker'],
    ['POST', '/v1/workers/w1/poll', 'a poll', 'worker'],
    ['POST', '/v1/workers/w1/settle', 'a settlement', 'worker'],
  ])('is turned away: %s %s, %s', async (method, path, _what, kind) => {
    const caller = deployment.caller();
    const body = method === 'POST' ? {} : undefined;
    for (const token of [
      'x',
      'x'.repeat(600),
      `${deployment.tokens[kind]}x`,
      deployment.tokens[kind].slice(1),
    ]) {
      expect(documented(await caller.send(method, path, body, { token }))).toBe('UNAUTHENTICATED');
    }
    const other = kind === 'worker' ? deployment.tokens.caller : deployment.tokens.worker;
    expect(documented(await caller.send(method, path, body, { token: other }))).toBe('FORBIDDEN');
    const headers = { authorization: 'Basic eDp5' };
    expect(documented(await caller.send(method, path, body, { headers }))).toBe('UNAUTHENTICATED');
  });

  it.each([
    ['GET', '/'],
    ['GET', execute],
    ['PUT', execute],
    ['DELETE', '/v1/bridge/workers/w1/lanes'],
    ['POST', '/v1/bridge/workers/w1/status'],
    ['GET', '/v2/workspace-tools/execute'],
    ['GET', '/v1/exec/programmatic'],
  ])('finds no route: %s %s', async (method, path) => {
    expect(documented(await deployment.caller().send(method, path))).toBe('ROUTE_NOT_FOUND');
  });
});

/** Routes of calls and of workers, each with a path that leads to it; the worker that is spoken for is no real one. */
const routes = [
  { method: 'POST', path: execute, token: 'caller' },
  { method: 'GET', path: `/v1/calls/${'a'.repeat(32)}?waitMs=0`, token: 'caller' },
  ...['/v1', '/v1/workspaces/primary/lanes/a'].flatMap((base) =>
    ['exec', 'exec/programmatic', 'exec/programmatic/cancel'].map((act) => ({
      method: 'POST',
      path: `${base}/${act}`,
      token: 'caller' as const,
    })),
  ),
  { method: 'GET', path: '/v1/bridge/workers/w1/status', token: 'caller' },
  { method: 'GET', path: '/v1/bridge/workers/w1/lanes', token: 'admin' },
  { method: 'GET', path: '/v1/bridge/workers', token: 'admin' },
  { method: 'POST', path: `/v1/bridge/calls/${'a'.repeat(32)}/cancel`, token: 'admin' },
  ...['register', 'poll', 'report', 'renew', 'settle'].map((act) => ({
    method: 'POST',
    path: `/v1/workers/random/${act}`,
    token: 'worker' as const,
  })),
] as const;

describe('random JSON', () => {
  it.each(routes)('gets a documented answer: $method $path', async ({ method, path, token }) => {
    const asked = { token: deployment.tokens[token] };
    const body = fc.oneof(fc.json(), fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()));
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const given = method === 'GET' ? undefined : sent;
        documented(await deployment.caller().send(method, path, given, asked));
      }),
      { numRuns: 60 },
    );
  });

  it('that the protocol allows gets a documented answer from the worker too, and changes nothing outside the lane', async () => {
    const before = repository.git('status', '--porcelain', '--ignored');
    await fc.assert(
      fc.asyncProperty(allowed, async (call) => {
        documented(await deployment.caller().call({ worktree: 'a', ...call }));
      }),
      { numRuns: 250 },
    );
    expect(repository.git('status', '--porcelain', '--ignored')).toBe(before);
    expect(await deployment.caller().run('cat file.txt >/dev/null', 'a')).toMatchObject({ timedOut: false });
    expect(deployment.worker?.log).not.toContain('a call failed in the worker');
    expect(deployment.bridge?.log).not.toContain('the bridge failed');
  }, 280_000);
});

const keys = [
  ...['protocolVersion', 'operation', 'workspaceId', 'worktree', 'path', 'command', 'version', 'workerId'],
  ...[
    'incarnationId',
    'registrationId',
    'journalId',
    'capabilities',
    'slots',
    'holds',
    'takeOver',
    'reports',
    'leases',
    'lease',
  ],
  ...['settlement', 'waitMs', '__proto__', 'constructor', 'toString'],
];

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', 'one', '\n', '\r\n', '\0', '你', 'one\n'),
);
const segment = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
  fc.constantFrom(
    'file.txt',
    '.git',
    '.GIT',
    'folder',
    '-',
    '-r',
    '*',
    '[',
    '{a,b}',
    '~',
    '$HOME',
    '!x',
    '.gitignore',
    '%00',
    'x'.repeat(256),
  ),
);
const anyPath = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/'));
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const edit = fc.record({ oldText: text, newText: text, replaceAll: optional(fc.boolean()) });

/** Calls of the file tools, most of which the protocol takes and the worker has to judge. */
const allowed: fc.Arbitrary<Fields> = fc.oneof(
  fc.record({
    operation: fc.constant('read_file'),
    path: anyPath,
    startLine: optional(fc.integer({ min: 1, max: 5 })),
    maxLines: optional(fc.integer({ min: 1, max: 500 })),
  }),
  fc.record({
    operation: fc.constant('read_file'),
    path: fc.constantFrom('AGENTS.md', 'CLAUDE.md'),
    instructionSha256: fc.constant('a'.repeat(64)),
  }),
  fc.record({
    operation: fc.constant('search_text'),
    query: text,
    path: optional(anyPath),
    maxResults: optional(fc.integer({ min: 1, max: 200 })),
  }),
  fc.record({ operation: fc.constant('list_files'), path: optional(anyPath), afterPath: optional(anyPath) }),
  fc.record({
    operation: fc.constant('write_file'),
    path: anyPath,
    content: text,
    overwrite: optional(fc.boolean()),
  }),
  fc.record({
    operation: fc.constantFrom('preview_edit', 'edit_file'),
    path: anyPath,
    edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
    matching: optional(fc.constantFrom('exact', 'tolerant')),
  }),
  fc.record({ operation: fc.constant('execute_command'), command: fc.constant('true'), cwd: anyPath }),
);
