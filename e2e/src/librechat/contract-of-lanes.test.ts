import { existsSync, writeFileSync } from 'node:fs';
import { executeWorkspaceTool } from '@codelanes/librechat';
import { durableStatusSchema } from '@codelanes/protocol';
import { fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Deployment, steadyClocks } from '../rig/deployment.js';
import { RedisServer } from '../rig/redis-server.js';
import { Repository } from '../rig/repository.js';
import { before, overlap, spanOf, stamped } from '../rig/stamps.js';
import { LibreChatServer } from './librechat-server.js';
import { brokenRules } from './reply-rules.js';

const envelope = { protocolVersion: 1, workspaceId: 'primary' } as const;
const command = { ...envelope, operation: 'execute_command', maxOutputBytes: 262_144 } as const;
const statusSchema = z.object({ state: z.string(), result: z.unknown() });

describe.each(['memory', 'redis'] as const)('a LibreChat of generation B, store %s', (store) => {
  let redis: RedisServer | undefined;
  let repository: Repository;
  let deployment: Deployment;
  let librechat: LibreChatServer;

  beforeAll(async () => {
    redis = store === 'redis' ? await RedisServer.start() : undefined;
    repository = Repository.create('a', 'b');
    const kept = redis === undefined ? {} : { store: { kind: 'redis' as const, url: redis.url } };
    deployment = await Deployment.start(repository, {
      ...steadyClocks,
      slots: 2,
      bridge: { ...steadyClocks.bridge, ...kept, clientGeneration: 'B' },
    });
    librechat = new LibreChatServer(deployment.url, deployment.tokens.caller);
  });
  afterAll(async () => {
    await deployment.stop();
    repository.remove();
    await redis?.stop();
  });

  it('[L20] takes the results of its lanes, with their own paths', async () => {
    const lane = { ...envelope, worktree: 'a' };
    expect(await librechat.result({ ...lane, operation: 'read_file', path: 'file.txt' })).toMatchObject({
      content: 'one',
    });
    const listed = await librechat.result({ ...lane, operation: 'list_files' });
    expect(listed).toMatchObject({ paths: ['.gitignore', 'file.txt'] });
  });

  it('is told where a worktree stands after a command in it, and of a checkout nothing', async () => {
    const commit = 'git commit --quiet --allow-empty --message=more && git rev-parse HEAD';
    const inLane = await librechat.result({ ...command, command: commit, worktree: 'a' }, { laneGit: true });
    const { laneGit, stdout } = z.object({ laneGit: z.unknown(), stdout: z.string() }).parse(inLane);
    expect(laneGit).toEqual({ branch: 'lane/a', head: stdout.trim() });
    expect(await librechat.result({ ...command, command: 'git rev-parse HEAD' })).not.toHaveProperty(
      'laneGit',
    );
  });

  it('[L22] works in two lanes at once by the paths that its agents write, and then in the checkout', async () => {
    const transport = {
      baseURL: `${deployment.url}/v1`,
      authHeaders: { Authorization: `Bearer ${deployment.tokens.caller}` },
      linkedWorktrees: true,
    };
    const at = async (more: { readonly cwd?: string }, work: string) => {
      const request = { ...command, command: work, ...more };
      const result = await executeWorkspaceTool({ ...transport, request });
      if (result.operation !== 'execute_command') throw new Error('expected the result of a command');
      return result;
    };
    const waits = 'touch listed; until [ -e both ]; do sleep 0.05; done; rm listed both';
    const work = stamped(`${waits}; git commit --quiet --allow-empty --message=done`);
    const lanes = ['a', 'b'] as const;
    const calls = Promise.all([at({ cwd: '.worktrees/a' }, work), at({ cwd: '.worktrees/b' }, work)]);
    for (const lane of lanes) await expect.poll(() => existsSync(repository.path('listed', lane))).toBe(true);
    for (const lane of lanes) writeFileSync(repository.path('both', lane), '');
    const [a, b] = await calls;
    expect(overlap(spanOf(a), spanOf(b))).toBe(true);
    const root = await at({}, stamped('git log --oneline lane/a lane/b'));
    expect(root.stdout.match(/done/g)).toHaveLength(2);
    expect([before(spanOf(a), spanOf(root)), before(spanOf(b), spanOf(root))]).toEqual([true, true]);
  });

  it('is told what a lane is not, as the worker says it, and nothing runs in its stead', async () => {
    const refused = await librechat.refusal({ ...command, command: 'touch entered', worktree: 'missing' });
    expect(refused.refusal).toBe('final');
    expect(refused.status).toBe(422);
    expect(await librechat.result({ ...command, command: 'ls' })).toMatchObject({ stdout: 'file.txt\n' });
    const missing = await librechat.refusal({ ...envelope, operation: 'read_file', path: 'missing' });
    expect(missing).toMatchObject({ status: 422, code: 'NOT_FOUND' });
  });

  it('sends durable requests where they are offered, and takes their results by the same rules', async () => {
    const sent = { ...command, command: 'echo durable', worktree: 'b' };
    const id = 'durable-request-0001';
    const submitted = await librechat.send(sent, {
      path: '/workspace-tools/requests',
      headers: { 'X-LibreChat-Workspace-Request-Id': id },
    });
    expect(submitted.status).toBe(store === 'redis' ? 202 : 404);
    const ask = async () => {
      const { status, json } = await librechat.ask('GET', `/workspace-tools/requests/${id}`);
      return { status, ...statusSchema.partial().parse(json) };
    };
    const expected = store === 'redis' ? { status: 200, state: 'completed' } : { status: 404 };
    await expect.poll(ask, { interval: 50 }).toMatchObject(expected);
    const { result } = await ask();
    expect(store === 'redis' ? brokenRules(sent, result, { laneGit: true }) : result).toEqual(
      store === 'redis' ? [] : undefined,
    );
    const unknown = await librechat.ask('GET', '/workspace-tools/requests/unknown-request-01');
    expect(unknown.status).toBe(404);
  });

  it('stops a durable request, and is told in a document of the known form that it was asked to', async () => {
    if (store === 'memory') return;
    const id = 'durable-request-0002';
    const path = '/workspace-tools/requests';
    const endless = { ...command, command: 'touch begun; sleep 100', worktree: 'b' };
    await librechat.send(endless, { path, headers: { 'X-LibreChat-Workspace-Request-Id': id } });
    const begun = () => existsSync(repository.path('begun', 'b'));
    await expect.poll(begun).toBe(true);
    const stopped = await librechat.ask('DELETE', `${path}/${id}`);
    expect(stopped.status).toBe(200);
    expect(durableStatusSchema.parse(stopped.json)).toMatchObject({ requestId: id, cancelRequested: true });
    const look = async () =>
      durableStatusSchema.parse((await librechat.ask('GET', `${path}/${id}`)).json).state;
    await expect.poll(look, { interval: 50 }).toMatch(/^(cancelled|failed)$/);
  });
});

describe('the client of this house at a bridge that has had enough of its calls', () => {
  it('waits as long as it is told, and sends the call again', async () => {
    const repository = Repository.create();
    const bridge = { ...steadyClocks.bridge, rateLimit: { calls: 1, windowMs: 8_000 } };
    const deployment = await Deployment.start(repository, { ...steadyClocks, bridge });
    const statuses: number[] = [];
    const read = () =>
      executeWorkspaceTool({
        baseURL: `${deployment.url}/v1`,
        authHeaders: { Authorization: `Bearer ${deployment.tokens.caller}` },
        request: { ...envelope, operation: 'read_file', path: 'file.txt' },
        fetchImpl: async (url, sent) => {
          const reply = await fetch(url, sent);
          statuses.push(reply.status);
          return reply;
        },
      });
    try {
      const both = await Promise.all([read(), read()]);
      expect(both).toMatchObject([{ content: 'one' }, { content: 'one' }]);
      expect(statuses).toContain(429);
      expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    } finally {
      await deployment.stop();
      repository.remove();
    }
  });
});
