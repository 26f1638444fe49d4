import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cli } from './rig/cli.js';
import { Deployment } from './rig/deployment.js';
import { overlap, spanOf, stamped } from './rig/stamps.js';
import { Repository } from './rig/repository.js';

const statusPath = '/v1/bridge/workers/w1/status';
/** Clients that do not say that they are ours get what the operator set: A, unless told otherwise. */
const foreign = { headers: { 'x-codelanes-client': '0' } };

describe('[L3] [L19] [L27] a worker that was started without lanes', () => {
  let repository: Repository;
  let deployment: Deployment;

  beforeAll(async () => {
    repository = Repository.create('a', 'b');
    deployment = await Deployment.start(repository, {
      lanes: false,
      bridge: { clientGeneration: 'B' },
    });
  });
  afterAll(async () => {
    await deployment.stop();
    repository.remove();
  });

  it('advertises no scope, to our own clients and to those of generation B', async () => {
    const own = await deployment.caller().send('GET', statusPath);
    const b = await deployment.caller().send('GET', statusPath, undefined, foreign);
    for (const answer of [own, b]) {
      expect(answer).toMatchObject({ status: 200, json: { online: true } });
      expect(answer.text).not.toContain('workspaceScopes');
    }
  });

  it.each([
    { operation: 'execute_command', command: 'touch entered' },
    { operation: 'read_file', path: 'file.txt' },
    { operation: 'search_text', query: 'one' },
    { operation: 'list_files' },
    { operation: 'write_file', path: 'entered', content: '' },
    { operation: 'preview_edit', path: 'file.txt', oldText: 'one', newText: 'two' },
    { operation: 'edit_file', path: 'file.txt', oldText: 'one', newText: 'two' },
  ])(
    'refuses $operation with a worktree before it is queued, and never falls back to the root',
    async (call) => {
      const refusal = await deployment.caller().refused({ ...call, worktree: 'a' });
      expect(refusal).toMatchObject({ status: 409, code: 'WORKER_MISMATCH' });
      expect(refusal.error).toContain('does not offer linked worktree lanes');
      const entered = await deployment.caller().run('ls entered .worktrees/a/entered; cat file.txt');
      expect(entered.stdout).toBe('one\n');
    },
  );

  it.each([
    ['repository', 'nested'],
    ['workspaceInstanceId', 'a'.repeat(64)],
  ])('refuses the field %s just so', async (field, value) => {
    const call = { operation: 'read_file', path: 'file.txt', [field]: value };
    expect((await deployment.caller().refused(call)).code).toBe('WORKER_MISMATCH');
  });

  it('[L21] serves calls without it as ever: one command per root at a time, in worktrees as elsewhere', async () => {
    const caller = deployment.caller();
    const inLane = (lane: string) =>
      caller.run(stamped('sleep 0.2'), undefined, { more: { cwd: `.worktrees/${lane}` } });
    const [a, b] = await Promise.all([inLane('a'), inLane('b')]);
    expect(overlap(spanOf(a), spanOf(b))).toBe(false);
    const read = await caller.succeed({ operation: 'read_file', path: '.worktrees/a/file.txt' });
    expect(read).toMatchObject({ path: '.worktrees/a/file.txt', content: 'one' });
  });
});

describe('[L3] [L27] a worker with lanes', () => {
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

  it('is shown to clients of generation A without any key that they do not know', async () => {
    const a = await deployment.caller().send('GET', statusPath, undefined, foreign);
    expect(a).toMatchObject({
      status: 200,
      json: { capabilities: { workspaceTools: { protocolVersion: 1 } } },
    });
    for (const key of ['workspaceScopes', 'sharedReads', 'commandResultFeatures', 'capacities']) {
      expect(a.text).not.toContain(key);
    }
    const own = await deployment.caller().send('GET', statusPath);
    expect(own.text).toContain('"workspaceScopes":["git_linked_worktree"]');
  });

  it('[L21] serves a client of generation A as today, in results and in codes', async () => {
    const caller = deployment.caller();
    const command = await caller.call({ operation: 'execute_command', command: 'pwd' }, foreign);
    expect(command.json).toEqual({
      protocolVersion: 1,
      operation: 'execute_command',
      workspaceId: 'primary',
      exitCode: 0,
      stdout: `${repository.root}\n`,
      stderr: '',
      truncated: false,
      timedOut: false,
    });
    const missing = { operation: 'read_file', path: 'missing' };
    expect((await caller.refused(missing, foreign)).code).toBe('INVALID_PATH');
    expect((await caller.refused(missing)).code).toBe('NOT_FOUND');
  });

  it('offers lanes only where the root is a checkout', async () => {
    const stateDir = `${deployment.stateDir}-plain`;
    const roots = [{ id: 'plain', root: repository.path('', 'a'), linkedWorktreeLanes: true }];
    await deployment.worker?.end('SIGTERM');
    const worker = await deployment.startWorker({ roots, stateDir, takeOver: true });
    const status = await deployment.caller().send('GET', statusPath);
    expect(status.text).toContain('"id":"plain"');
    expect(status.text).not.toContain('workspaceScopes');
    expect(worker.log).toContain('without linked worktree lanes');
  });
});

describe('codelanes worker', () => {
  it('[L19] advertises no scope where the command line was not given --linked-worktree-lanes', async () => {
    const served = Repository.create('a');
    const deployment = await Deployment.start(served);
    const plain = Repository.create('a');
    const token = join(served.folder, 'token');
    writeFileSync(token, deployment.tokens.worker, { mode: 0o600 });
    const state = join(served.folder, 'state-2');
    const words = ['--worker-id', 'w2', '--root', plain.root, '--state', state, '--allow-root'];
    const worker = Cli.start(['worker', ...words, '--bridge', deployment.url, '--token-file', token]);
    try {
      await worker.said('Worker w2 serves');
      const status = await deployment.caller().send('GET', '/v1/bridge/workers/w2/status');
      expect(status).toMatchObject({ status: 200, json: { online: true } });
      expect(status.text).not.toContain('workspaceScopes');
    } finally {
      await worker.end('SIGKILL');
      await deployment.stop();
      served.remove();
      plain.remove();
    }
  });
});
