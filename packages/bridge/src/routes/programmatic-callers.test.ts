import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ed25519Pair, honestClaimsAt, pemOf, signedToken } from '../auth/jwt/testing/minted.js';
import { RedisServer } from '../scheduler/testing/redis-server.js';
import { PairedWorker } from '../server/testing/paired-worker.js';
import { endScript, goOn, pauseAt, pauseIn, programmaticPath, runScript } from '../server/testing/scripts.js';
import { toolCall } from '../server/testing/scripts.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

type Claims = Parameters<typeof honestClaimsAt>[1];
const librechat = ed25519Pair();
const now = () => Math.floor(Date.now() / 1000);
const ann: Claims = { code_worker_id: 'worker-1' };

/** What LibreChat sends for one of its users: each time another token. */
function bearer(claims: Claims, at = now()): Record<string, string> {
  return { authorization: `Bearer ${signedToken(librechat, honestClaimsAt(at, claims))}` };
}

const named = (workerId: string) => ({ 'x-librechat-code-worker-id': workerId });

describe.each(['memory', 'redis'] as const)('a script of a user of LibreChat, store %s,', (kind) => {
  let folder: string;
  let redis: RedisServer | undefined;
  let bridge: TestBridge;
  let worker: TestWorker;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'codelanes-scripts-'));
    const file = join(folder, 'librechat.pem');
    await writeFile(file, pemOf(librechat));
    redis = kind === 'redis' ? await RedisServer.start() : undefined;
    bridge = await TestBridge.start({
      jwt: { keys: { file } },
      rateLimit: 'off',
      ...(redis === undefined ? {} : { store: { kind: 'redis', url: redis.url } }),
    });
    worker = await TestWorker.registered(bridge);
    const binding = { tenantId: 'tenant-1', principal: { type: 'user', id: 'user-1' } } as const;
    await (await PairedWorker.paired(bridge, 'of-user', binding)).register();
  });
  afterAll(async () => {
    await bridge.close();
    await redis?.stop();
    await rm(folder, { recursive: true });
  });

  const as = (claims: Claims, more: Record<string, string> = {}) => ({
    as: undefined,
    headers: { ...bearer(claims), ...named('worker-1'), ...more },
  });

  /** A script of that user that waits for a tool. */
  async function paused(more: Record<string, string> = {}) {
    const begun = runScript(bridge, { tools: [{ name: 'look' }] }, as(ann, more));
    const assignment = await worker.next();
    await pauseAt(worker, assignment, toolCall(1, 'look'));
    return { assignment, answer: await begun };
  }

  async function expectToGoOn(answer: Awaited<ReturnType<typeof paused>>['answer']): Promise<void> {
    const continued = goOn(bridge, answer, as(ann));
    await endScript(worker, await worker.next(), { stdout: 'done\n' });
    expect((await continued).json).toMatchObject({ status: 'completed', stdout: 'done\n' });
  }

  it('goes on for that user with every new token, whatever else the token says', async () => {
    const { answer } = await paused();
    const continued = goOn(bridge, answer, as({ ...ann, role: 'ADMIN', org_id: 'org' }));
    await endScript(worker, await worker.next());
    expect((await continued).json).toMatchObject({ status: 'completed' });
  });

  it.each<[string, () => object]>([
    ['another user of the tenant', () => as({ ...ann, sub: 'user-2' })],
    ['the user of that name in another tenant', () => as({ ...ann, tenant_id: 'tenant-2' })],
    ['user and tenant the other way round', () => as({ ...ann, sub: 'tenant-1', tenant_id: 'user-1' })],
    ['whoever has a token of the bridge', () => ({ as: 'caller' })],
    [
      'the user himself where his token is for another worker',
      () => ({ as: undefined, headers: bearer({ code_worker_id: 'of-user' }) }),
    ],
  ])('is as unknown to %s as one that never was', async (_, sending) => {
    const { answer } = await paused();
    const foreign = await goOn(bridge, answer, sending());
    const token = `${'a'.repeat(32)}.${'b'.repeat(43)}`;
    const never = await goOn(
      bridge,
      { ...answer, json: { ...answer.json, continuation_token: token } },
      sending(),
    );
    expect(foreign).toMatchObject({ status: 404, json: { code: 'CONTINUATION_NOT_FOUND' } });
    expect(foreign.text).toBe(never.text);
    await expectToGoOn(answer);
  });

  it('is not used up by an expired token, nor by one that does not name the worker of the header', async () => {
    const { answer } = await paused();
    const expired = { as: undefined, headers: { ...bearer(ann, now() - 400), ...named('worker-1') } };
    expect(await goOn(bridge, answer, expired)).toMatchObject({
      status: 401,
      json: { code: 'UNAUTHENTICATED' },
    });
    for (const claims of [{}, { code_worker_id: 'of-user' }]) {
      expect(await goOn(bridge, answer, as(claims))).toMatchObject({
        status: 403,
        json: { code: 'WORKER_UNAUTHORIZED' },
      });
    }
    await expectToGoOn(answer);
  });

  it('is begun nowhere by somebody whom its worker does not work for, in the words for no worker', async () => {
    const begin = async (workerId: string) => {
      const claims = { sub: 'user-2', code_worker_id: workerId };
      const { status, text } = await runScript(
        bridge,
        {},
        {
          as: undefined,
          headers: { ...bearer(claims), ...named(workerId) },
        },
      );
      return { status, text: text.replaceAll(workerId, 'ID') };
    };
    const foreign = await begin('of-user');
    expect(foreign.status).toBe(503);
    expect(foreign).toEqual(await begin('nobody'));
  });

  it('is stopped by that user alone', async () => {
    const id = randomUUID();
    const { assignment, answer } = await paused({ 'x-librechat-code-request-id': id });
    const cancel = (claims: Claims) =>
      bridge.send(`${programmaticPath}/cancel`, { ...as(claims), body: { request_id: id } });
    for (const claims of [
      { ...ann, sub: 'user-2' },
      { ...ann, tenant_id: 'tenant-2' },
    ]) {
      expect(await cancel(claims)).toMatchObject({ status: 200, json: { status: 'already_completed' } });
    }
    expect(await cancel(ann)).toMatchObject({ status: 202, json: { status: 'cancellation_requested' } });
    expect((await worker.poll()).cancellations).toEqual([assignment.callId]);
    expect(await goOn(bridge, answer, as(ann))).toMatchObject({ status: 200, json: { status: 'completed' } });
    expect((await goOn(bridge, answer, as({ ...ann, sub: 'user-2' }))).status).toBe(404);
  });

  it('has a name of its own, which another user may have too', async () => {
    const id = { 'x-librechat-code-request-id': randomUUID() };
    const { answer } = await paused(id);
    expect((await runScript(bridge, {}, as(ann, id))).status).toBe(409);
    const other = runScript(bridge, {}, as({ ...ann, sub: 'user-2' }, id));
    await endScript(worker, await worker.next());
    expect((await other).status).toBe(200);
    await expectToGoOn(answer);
  });

  it('has a token that says nothing of its user', async () => {
    const { answer } = await paused();
    const { continuation_token: token } = pauseIn(answer.json);
    expect(token).toMatch(/^[0-9a-f]{32}\.[\w-]{43}$/);
    expect(answer.text).not.toContain('user-1');
    await expectToGoOn(answer);
  });

  describe('sent with any header', () => {
    const names = [
      'authorization',
      'x-librechat-code-worker-id',
      'x-librechat-code-workspace-id',
      'x-librechat-code-request-id',
      'x-codelanes-worktree',
      'x-codelanes-repository',
      'x-codeapi-expected-profile',
      'x-librechat-workspace-queue-wait-ms',
    ] as const;
    const value = fc.oneof(
      fc.stringMatching(/^[!-~]([ -~]{0,200}[!-~])?$/),
      fc.stringMatching(/^[\u0080-\u00ff]{1,50}$/),
      fc.constantFrom('', '..', '.git', 'a.lock', 'a/../b', '%2e%2e', '__proto__', 'a'.repeat(4_000), 'a,b'),
    );

    it.each(names)('never leads to a fault or a large answer, whatever it says: %s', async (name) => {
      const token = 'a'.repeat(32);
      const continuation = { continuation_token: `${token}.${'b'.repeat(43)}`, tool_results: [] };
      const begin = { lang: 'bash', code: 'true', tools: [] };
      await fc.assert(
        fc.asyncProperty(value, fc.constantFrom(begin, continuation), async (text, body) => {
          // Nobody fetches it: what is let in leaves the queue.
          const headers = {
            'x-librechat-code-workspace-id': 'primary',
            'x-librechat-workspace-queue-wait-ms': '1',
            ...bearer({ code_worker_id: 'of-user' }),
            [name]: text,
          };
          const answer = await bridge.send(programmaticPath, { body, headers });
          expect([400, 401, 403, 404, 409, 422, 503]).toContain(answer.status);
          expect(answer.json['code']).not.toBe('INTERNAL_FAULT');
          expect(Buffer.byteLength(answer.text)).toBeLessThan(4096);
        }),
        { numRuns: 40 },
      );
    });
  });
});
