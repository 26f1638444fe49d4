import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  claimsAt,
  ed25519Pair,
  hmacToken,
  honestClaimsAt,
  jwkOf,
  pemOf,
  signedToken,
  signingInput,
} from '../auth/jwt/testing/minted.js';
import { RedisServer } from '../scheduler/testing/redis-server.js';
import { PairedWorker } from './testing/paired-worker.js';
import { commandBody, untilQueued, waiting } from './testing/requests.js';
import type { Answer } from './testing/test-bridge.js';
import { TestBridge } from './testing/test-bridge.js';
import { TestWorker } from './testing/test-worker.js';

const librechat = ed25519Pair();
const lines: string[] = [];
let folder: string;
let bridge: TestBridge;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codelanes-callers-'));
  const file = join(folder, 'librechat.pem');
  await writeFile(file, pemOf(librechat));
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  bridge = await TestBridge.start({ jwt: { keys: { file } } }, log);
  const bound = (workerId: string, type: 'user' | 'tenant' | 'role' | 'group', id: string) =>
    PairedWorker.paired(bridge, workerId, { tenantId: 'tenant-1', principal: { type, id } });
  for (const worker of [
    await bound('of-user', 'user', 'user-1'),
    await bound('of-tenant', 'tenant', 'tenant-1'),
    await bound('of-role', 'role', 'ADMIN'),
    await bound('of-group', 'group', 'engineering'),
  ]) {
    await worker.register();
  }
});

afterAll(async () => {
  await bridge.close();
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  lines.length = 0;
});

type Claims = Parameters<typeof honestClaimsAt>[1];
const now = () => Math.floor(Date.now() / 1000);
const bearer = (claims: Claims) => ({
  authorization: `Bearer ${signedToken(librechat, honestClaimsAt(now(), claims))}`,
});

/** A call as LibreChat sends it, which nobody ever fetches: one that is let in times out in the queue. */
function call(headers: Readonly<Record<string, string>>, body: object = commandBody()): Promise<Answer> {
  return bridge.send('/v1/workspace-tools/execute', { body, headers: { ...waiting(1), ...headers } });
}

const named = (workerId: string) => ({ 'x-librechat-code-worker-id': workerId });
const letIn = { status: 503, json: { code: 'WORKSPACE_QUEUE_TIMEOUT' } };

describe('a caller of LibreChat', () => {
  it.each<readonly [string, Claims, string]>([
    ['its user', { code_worker_id: 'of-user' }, 'of-user'],
    ['its tenant', { code_worker_id: 'of-tenant', sub: 'user-2' }, 'of-tenant'],
    ['its role', { code_worker_id: 'of-role', sub: 'user-2', role: 'ADMIN' }, 'of-role'],
    ['a group, for which LibreChat vouches', { code_worker_id: 'of-group', sub: 'user-3' }, 'of-group'],
  ])(
    'uses the worker that works for %s, named by token and header or by the token alone',
    async (_, claims, id) => {
      expect(await call({ ...bearer(claims), ...named(id) })).toMatchObject(letIn);
      expect(await call(bearer(claims))).toMatchObject(letIn);
      const status = await bridge.send(`/v1/bridge/workers/${id}/status`, { headers: bearer(claims) });
      expect(status.json).toMatchObject({ online: true });
    },
  );

  it.each<readonly [string, Claims]>([
    ['another tenant', { tenant_id: 'tenant-2', code_worker_id: 'of-tenant' }],
    ['the user of that name in another tenant', { tenant_id: 'tenant-2', code_worker_id: 'of-user' }],
    ['another user', { sub: 'user-2', code_worker_id: 'of-user' }],
    ['another role', { role: 'USER', code_worker_id: 'of-role' }],
  ])('is told nothing of a worker that works for %s', async (_, claims) => {
    const id = claims.code_worker_id ?? '';
    const same = (answer: Answer) => answer.text.replaceAll(id, 'ID').replaceAll('nobody', 'ID');
    const nobody = { ...claims, code_worker_id: 'nobody' };
    const foreign = await call(bearer(claims));
    expect(foreign).toMatchObject({ status: 503, json: { code: 'WORKER_OFFLINE' } });
    expect(lines.filter((line) => line.includes('turned away'))).toHaveLength(1);
    expect(same(foreign)).toBe(same(await call(bearer(nobody))));
    const path = (workerId: string) => `/v1/bridge/workers/${workerId}/status`;
    const seen = await bridge.send(path(id), { headers: bearer(claims) });
    const none = await bridge.send(path('nobody'), { headers: bearer(nobody) });
    expect(seen.status).toBe(200);
    expect(same(seen)).toBe(same(none));
  });

  it('may not name a worker that its token does not name', async () => {
    const refused = { status: 403, json: { code: 'WORKER_UNAUTHORIZED' } };
    expect(await call({ ...bearer({ code_worker_id: 'of-user' }), ...named('of-tenant') })).toMatchObject(
      refused,
    );
    expect(await call({ ...bearer({}), ...named('of-user') })).toMatchObject(refused);
    expect(await call({ ...bearer({}), ...named('nobody') })).toMatchObject(refused);
    expect(lines.filter((line) => line.includes('turned away'))).toHaveLength(3);
  });

  it('does not see a call of another user, nor cancels or administrates', async () => {
    const callId = 'a'.repeat(32);
    const claims = { code_worker_id: 'of-tenant' };
    const patient = { ...waiting(30_000), 'x-codelanes-call-id': callId };
    const stop = new AbortController();
    const running = bridge
      .send('/v1/workspace-tools/execute', {
        body: commandBody(),
        headers: { ...bearer(claims), ...patient },
        signal: stop.signal,
      })
      .catch(() => undefined);
    const view = (who: Claims) => bridge.send(`/v1/calls/${callId}`, { headers: bearer(who) });
    await expect.poll(async () => (await view(claims)).status, { timeout: 10_000 }).toBe(200);
    for (const who of [{ sub: 'user-2' }, { tenant_id: 'tenant-2' }]) {
      expect(await view(who)).toMatchObject({ status: 404, json: { code: 'CALL_NOT_FOUND' } });
    }
    for (const path of ['/v1/bridge/workers', '/v1/bridge/workers/of-user/lanes', '/metrics']) {
      const headers = bearer({ role: 'ADMIN' });
      expect((await bridge.send(path, { headers })).json['code']).toBe('FORBIDDEN');
    }
    stop.abort();
    await running;
  });

  it('is one principal for the rate limit, whichever token it sends', async () => {
    const limited = await TestBridge.start({
      jwt: { keys: { file: join(folder, 'librechat.pem') } },
      rateLimit: { calls: 2, windowMs: 3_600_000 },
    });
    const worker = await TestWorker.registered(limited);
    const send = (claims: Claims) =>
      limited.send('/v1/workspace-tools/execute', {
        body: commandBody(),
        headers: { ...waiting(1), ...bearer(claims) },
      });
    expect([await send({}), await send({})].map(({ json }) => json['code'])).not.toContain('RATE_LIMITED');
    const third = await send({ role: 'ADMIN' });
    expect(third).toMatchObject({ status: 429, json: { error: 'rate_limited' } });
    expect(Number(third.json['retry_after_seconds'])).toBeGreaterThan(0);
    expect((await send({ sub: 'user-2' })).json['code']).not.toBe('RATE_LIMITED');
    expect((await send({ tenant_id: 'tenant-2' })).json['code']).not.toBe('RATE_LIMITED');
    expect(worker.id).toBe('worker-1');
    await limited.close();
  });
});

describe('a bearer token that is none of a caller', () => {
  const stolen = ed25519Pair();
  const expired = () => signedToken(librechat, claimsAt(now() - 400));
  it.each<readonly [string, () => string]>([
    ['expired', expired],
    ['not yet valid', () => signedToken(librechat, claimsAt(now() + 100))],
    ['for somebody else than this bridge', () => signedToken(librechat, claimsAt(now(), { aud: 'other' }))],
    ['that names no algorithm', () => `${signingInput({ alg: 'none', kid: 'k1' }, claimsAt(now()))}.`],
    ['of the public key as a secret', () => hmacToken(pemOf(librechat), claimsAt(now()))],
    ['that brings its key along', () => signedToken(stolen, claimsAt(now()), { jwk: jwkOf(stolen) })],
    ['that is longer than any', () => signedToken(librechat, claimsAt(now(), { more: 'x'.repeat(9_000) }))],
    ['signed by somebody else', () => signedToken(stolen, claimsAt(now()))],
    [
      'without a signature',
      () => `${signedToken(librechat, claimsAt(now())).split('.').slice(0, 2).join('.')}.`,
    ],
    ['with a tenant put in', () => signedToken(librechat, claimsAt(now(), { tenant_id: 'tenant-2' }))],
  ])('is refused, told of once, and never logged: %s', async (_, make) => {
    const token = make();
    const answer = await call({ authorization: `Bearer ${token}` });
    expect(answer).toMatchObject({ status: 401, json: { code: 'UNAUTHENTICATED' } });
    expect(lines.filter((line) => line.includes('turned away'))).toHaveLength(1);
    for (const part of token.split('.').filter((each) => each !== '')) {
      expect(lines.join('')).not.toContain(part);
      expect(answer.text).not.toContain(part);
    }
  });

  it('is refused before its body is read', async () => {
    const body = { pad: 'x'.repeat(10 * 1024 * 1024) };
    expect((await call({ authorization: 'Bearer a.b.c' }, body)).status).toBe(401);
  });
});

describe('the profile that LibreChat expects', () => {
  it('is "stateful", which is said; another is refused by a code that its model does not retry', async () => {
    const claims = bearer({ code_worker_id: 'of-user' });
    const as = (profile: string) => call({ ...claims, 'x-codeapi-expected-profile': profile });
    const right = await as('stateful');
    expect(right).toMatchObject(letIn);
    expect(right.headers['x-codeapi-execution-profile']).toBe('stateful');
    expect(await as('default')).toMatchObject({ status: 409, json: { code: 'EXECUTION_PROFILE_MISMATCH' } });
    expect(await as('Stateful')).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect(await call(claims)).toMatchObject(letIn);
  });
});

describe('any header of a caller', () => {
  const names = [
    'authorization',
    'x-librechat-code-worker-id',
    'x-librechat-workspace-queue-wait-ms',
    'x-codelanes-call-id',
    'x-codelanes-client',
    'x-codeapi-expected-profile',
    'x-request-id',
    'traceparent',
    'content-type',
  ] as const;
  const value = fc.oneof(
    fc.stringMatching(/^[!-~]([ -~]{0,200}[!-~])?$/),
    fc.stringMatching(/^[\u0080-\u00ff]{1,50}$/),
    fc.constantFrom(
      '',
      '0',
      '-1',
      '1e9',
      'null',
      '__proto__',
      'a'.repeat(4_000),
      '../../x',
      '%00',
      'a,b',
      'Bearer ',
    ),
    fc.json().filter((text) => /^[!-~]+$/.test(text)),
  );

  it.each(names)('never leads to a fault or a large answer, whatever it says: %s', async (name) => {
    const headers = bearer({ code_worker_id: 'of-user' });
    await fc.assert(
      fc.asyncProperty(value, async (text) => {
        const answer = await call({ ...headers, [name]: text });
        expect([400, 401, 403, 404, 409, 415, 503]).toContain(answer.status);
        expect(answer.json['code']).not.toBe('INTERNAL_FAULT');
        expect(Buffer.byteLength(answer.text)).toBeLessThan(4096);
      }),
      { numRuns: 40 },
    );
  });

  it('never leads to a fault where it is to name a durable request', async () => {
    const redis = await RedisServer.start();
    const store = { kind: 'redis', url: redis.url } as const;
    const keeping = await TestBridge.start({ store, rateLimit: 'off' });
    try {
      await TestWorker.registered(keeping);
      const statuses = new Set<number>();
      const taken = fc.stringMatching(/^[A-Za-z0-9_-]{16,128}$/);
      await fc.assert(
        fc.asyncProperty(fc.oneof(value, taken), async (text) => {
          const headers = { ...waiting(1), 'x-librechat-workspace-request-id': text };
          const answer = await keeping.send('/v1/workspace-tools/requests', {
            as: 'caller',
            body: commandBody(),
            headers,
          });
          statuses.add(answer.status);
          expect([202, 400, 409, 429]).toContain(answer.status);
          expect(answer.json['code']).not.toBe('INTERNAL_FAULT');
          expect(Buffer.byteLength(answer.text)).toBeLessThan(4096);
        }),
        { numRuns: 80 },
      );
      expect([...statuses]).toEqual(expect.arrayContaining([202, 400]));
    } finally {
      await keeping.close();
      await redis.stop();
    }
  });
});

it('callers with a static token have no part in what works for a tenant, and may use what works for all', async () => {
  const status = await bridge.send('/v1/bridge/workers/of-user/status', { as: 'caller' });
  expect(status.json).toMatchObject({ online: false });
  const worker = await TestWorker.registered(bridge, { id: 'for-all' });
  const answer = bridge.send('/v1/workspace-tools/execute', { as: 'caller', body: commandBody() });
  await untilQueued(bridge, 0, 'for-all');
  await worker.settleCommand(await worker.next(), 'hello');
  expect((await answer).json).toMatchObject({ stdout: 'hello' });
});
