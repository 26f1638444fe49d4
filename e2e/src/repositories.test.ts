import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCallId, type Caller } from './rig/caller.js';
import { Cli } from './rig/cli.js';
import { EnvironmentDeployment, EnvironmentFolder } from './rig/environment.js';
import { RedisServer } from './rig/redis-server.js';
import { before, spanOf, stamped } from './rig/stamps.js';

let environment: EnvironmentFolder;
let deployment: EnvironmentDeployment;
let caller: Caller;

beforeAll(async () => {
  environment = new EnvironmentFolder();
  environment.addRepository('api', 'a', 'b');
  environment.addRepository('libs/web', 'a');
  environment.define(
    'name: primary',
    `root: ${environment.root}`,
    'linkedWorktreeLanes: true',
    'repositories:',
    '  - { path: api, slots: 1 }',
    '  - { path: libs/web, network: public }',
  );
  deployment = await EnvironmentDeployment.start(environment, { slots: 2 });
  caller = deployment.caller();
});
afterAll(async () => {
  await deployment.stop();
  environment.remove();
});

const api = { repository: 'api' };
const web = { repository: 'libs/web' };

/** Runs until the file `go` is put in its working directory, which it takes away again. */
const untilGo = stamped('touch begun; until [ -e go ]; do sleep 0.05; done; rm go begun');
const letGo = (...folder: readonly string[]) => {
  writeFileSync(environment.path(...folder, 'go'), '');
};

describe('repositories of one environment', () => {
  it('[M1] [M7] [T39] run commands at the same time with two slots', async () => {
    const [inApi, inWeb] = [newCallId(), newCallId()];
    const calls = [
      caller.run(untilGo, undefined, { callId: inApi, more: api }),
      caller.run(untilGo, undefined, { callId: inWeb, more: web }),
    ];
    await Promise.all([caller.until(inApi, 'running'), caller.until(inWeb, 'running')]);
    letGo('api');
    letGo('libs/web');
    expect((await Promise.all(calls)).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  });

  it('[M2] let the worktrees of a repository with one slot take turns, while others go on', async () => {
    const second = newCallId();
    const a = caller.run(untilGo, 'a', { more: api });
    // A call that counts as running may not have begun yet.
    await expect.poll(() => existsSync(environment.path('api', '.worktrees', 'a', 'begun'))).toBe(true);
    const b = caller.run(stamped('true'), 'b', { callId: second, more: api });
    await caller.until(second, 'waiting');
    const other = await caller.run(stamped('true'), 'a', { more: web });
    expect((await caller.view(second)).waiting?.lacking).toBe('repository');
    letGo('api', '.worktrees', 'a');
    const [spanA, spanB] = (await Promise.all([a, b])).map(spanOf);
    if (!spanA || !spanB) throw new Error('two results');
    expect(before(spanA, spanB)).toBe(true);
    expect(spanOf(other).begin).toBeGreaterThan(spanA.begin);
    expect(before(spanOf(other), spanA)).toBe(false);
  });

  it('make a call at the root wait for all of them, and newer calls of theirs for it', async () => {
    const [inApi, inWeb, root, late] = [newCallId(), newCallId(), newCallId(), newCallId()];
    const calls = [
      caller.run(untilGo, 'a', { callId: inApi, more: api }),
      caller.run(untilGo, undefined, { callId: inWeb, more: web }),
    ];
    await Promise.all([caller.until(inApi, 'running'), caller.until(inWeb, 'running')]);
    const atRoot = caller.run(untilGo, undefined, { callId: root });
    await caller.until(root, 'waiting');
    const newer = caller.run(stamped('true'), 'b', { callId: late, more: api });
    await caller.until(late, 'waiting');
    letGo('api', '.worktrees', 'a');
    letGo('libs/web');
    await caller.until(root, 'running');
    expect((await caller.view(late)).state).toBe('waiting');
    letGo();
    const [spanApi, spanWeb] = (await Promise.all(calls)).map(spanOf);
    const [spanRoot, spanLate] = (await Promise.all([atRoot, newer])).map(spanOf);
    if (!spanApi || !spanWeb || !spanRoot || !spanLate) throw new Error('four results');
    expect(before(spanApi, spanRoot) && before(spanWeb, spanRoot)).toBe(true);
    expect(before(spanRoot, spanLate)).toBe(true);
  });

  it('[M6] are workspaces too: the alias and the field are one lane, and results bear the name that was sent', async () => {
    const [first, second] = [newCallId(), newCallId()];
    const byField = caller.run(untilGo, undefined, { callId: first, more: web });
    await caller.until(first, 'running');
    const byName = caller.run('cat name.txt', undefined, {
      callId: second,
      more: { workspaceId: 'primary:libs.web' },
    });
    await caller.until(second, 'waiting');
    const view = await caller.view(second);
    expect(view.lane).toEqual(['primary', 'repo:libs/web']);
    expect(view.waiting?.blockers).toMatchObject([{ callId: first }]);
    letGo('libs/web');
    await byField;
    expect(await byName).toMatchObject({ workspaceId: 'primary:libs.web', stdout: 'libs/web\n' });
    const inWorktree = {
      workspaceId: 'primary:libs.web',
      operation: 'read_file',
      path: 'name.txt',
      worktree: 'a',
    };
    expect(await caller.succeed(inWorktree)).toMatchObject({ workspaceId: 'primary:libs.web' });
  });

  it('refuse what is not declared, and a name beside the field', async () => {
    const command = { operation: 'execute_command', command: 'true' };
    const unknown = await caller.refused({ ...command, repository: 'ap' });
    expect(unknown).toMatchObject({ status: 409, code: 'WORKER_MISMATCH' });
    expect(unknown.error).toContain('it has "api", "libs/web"');
    const both = await caller.refused({ ...command, workspaceId: 'primary:api', ...api });
    expect(both).toMatchObject({ status: 409, code: 'WORKER_MISMATCH' });
    // The root is no checkout, so it has no worktrees of its own.
    const atRoot = await caller.refused({ ...command, worktree: 'a' });
    expect(atRoot).toMatchObject({ status: 409, code: 'WORKER_MISMATCH' });
    expect(await caller.refused({ ...command, ...api, worktree: 'c' })).toMatchObject({ status: 422 });
  });

  it('have the network that their definition gives them, and no other has it', async () => {
    const proxied = 'echo "${https_proxy:-none}"';
    const [inWeb, inApi, atRoot] = [
      await caller.run(proxied, 'a', { more: web }),
      await caller.run(proxied, 'a', { more: api }),
      await caller.run(proxied),
    ];
    expect(inWeb.stdout).toContain('http://127.0.0.1:');
    expect([inApi.stdout, atRoot.stdout]).toEqual(['none\n', 'none\n']);
  });

  it('are called from the command line by their path', async () => {
    const words = ['exec', '--repository', 'libs/web', '--worktree', 'a', '--', 'cat', 'name.txt'];
    const { status, stdout } = await Cli.run(words, { environment: deployment.asCaller });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'libs/web\n' });
  });
});

describe('the wall of a repository', () => {
  it('shows a command its own files and nothing of the others', async () => {
    const other = environment.path('libs/web');
    for (const worktree of [undefined, 'a']) {
      const read = await caller.run(`cat ${other}/name.txt`, worktree, { more: api });
      expect(read).toMatchObject({ stdout: '' });
      expect(read.exitCode).not.toBe(0);
      const write = await caller.run(
        `mkdir -p ${other}; echo x > ${other}/planted; echo x > ${other}/.git/hooks/pre-commit; cat name.txt`,
        worktree,
        { more: api },
      );
      expect(write.stdout).toBe('api\n');
    }
    expect(existsSync(`${other}/planted`)).toBe(false);
    expect(existsSync(`${other}/.git/hooks/pre-commit`)).toBe(false);
  });

  it('keeps hooks and settings of its own from commands, and from worktrees the checkout', async () => {
    const { stdout } = await caller.run('git rev-parse --show-toplevel --git-common-dir', 'a', { more: api });
    expect(stdout.split('\n')).toContain(environment.path('api/.worktrees/a'));
    await caller.run('echo x > .git/hooks/pre-commit; git config core.fsmonitor /tmp/x; true', undefined, {
      more: api,
    });
    expect(existsSync(environment.path('api/.git/hooks/pre-commit'))).toBe(false);
    expect(environment.git('api', 'config', '--list', '--local')).not.toContain('fsmonitor');
    await caller.run(`echo changed > ${environment.path('api')}/name.txt`, 'a', { more: api });
    expect(readFileSync(environment.path('api/name.txt'), 'utf8')).toBe('api\n');
  });

  it('holds file tools to the repository', async () => {
    const write = { operation: 'write_file', path: 'made.txt', content: 'made\n', ...api };
    await caller.succeed(write);
    expect(readFileSync(environment.path('api/made.txt'), 'utf8')).toBe('made\n');
    await caller.run('ln -s ../libs/web/name.txt link && rm made.txt', undefined, { more: api });
    for (const path of ['../libs/web/name.txt', environment.path('libs/web/name.txt'), 'link']) {
      expect((await caller.refused({ ...write, path, content: 'escaped' })).status).toBeGreaterThanOrEqual(
        400,
      );
    }
    expect(readFileSync(environment.path('libs/web/name.txt'), 'utf8')).toBe('libs/web\n');
    await caller.run('rm link', undefined, { more: api });
  });

  it('lets a worktree of each commit on its own branch', async () => {
    const commit =
      'echo more >> name.txt && git commit --quiet --all --message=More && git branch --show-current';
    for (const more of [api, web]) {
      expect(await caller.run(commit, 'a', { more })).toMatchObject({ exitCode: 0, stdout: 'lane/a\n' });
    }
    expect(environment.git('api', 'log', '-1', '--format=%s', 'lane/a').trim()).toBe('More');
  });
});

describe('a command at the root of an environment', () => {
  const planting = [
    'printf "#!/bin/sh\\n" > api/.git/hooks/pre-commit',
    'chmod +x api/.git/hooks/pre-commit',
    'git -C libs/web config core.fsmonitor /tmp/planted',
  ].join(' && ');

  const expectClean = () => {
    expect(existsSync(environment.path('api/.git/hooks/pre-commit'))).toBe(false);
    expect(environment.git('libs/web', 'config', '--list', '--local')).not.toContain('fsmonitor');
  };

  it('leaves nothing in the Git directories beneath by which Git runs code, and is told so', async () => {
    const { exitCode, stderr } = await caller.run(planting);
    expect(exitCode).toBe(0);
    expectClean();
    expect(stderr).toContain('In "api": ".git/hooks/pre-commit" was made by the command');
    expect(stderr).toContain('In "libs/web": ".git/config" was changed by the command');
    expect((await caller.run('git status --short', undefined, { more: api })).exitCode).toBe(0);
  });

  it('that is cut short with its worker is audited by the next worker, before anything else', async () => {
    const callId = newCallId();
    const cut = caller.call(
      { operation: 'execute_command', command: `${planting}; touch planted; sleep 600`, timeoutMs: 300_000 },
      { callId },
    );
    await expect.poll(() => existsSync(environment.path('planted'))).toBe(true);
    await deployment.killWorker();
    await deployment.startWorker(2);
    expectClean();
    expect((await cut).status).not.toBe(200);
    expect((await caller.run('rm planted')).exitCode).toBe(0);
  });

  it('closes the repository whose Git directory it exchanged, and not the others', async () => {
    const { stderr } = await caller.run('mv api/.git api/kept && cp -r api/kept api/.git');
    expect(stderr).toContain(
      'In "api": The Git directory of the checkout is not the one from before the call.',
    );
    const command = { operation: 'execute_command', command: 'true' };
    expect(await caller.refused({ ...command, ...api })).toMatchObject({ code: 'WORKSPACE_QUARANTINED' });
    expect(await caller.refused(command)).toMatchObject({ code: 'WORKSPACE_QUARANTINED' });
    expect((await caller.run('true', 'a', { more: web })).exitCode).toBe(0);
  });
});

describe('a root that is a checkout itself', () => {
  const checkout = new EnvironmentFolder();
  let served: EnvironmentDeployment;

  beforeAll(async () => {
    checkout.addRepository('.', 'a');
    checkout.addRepository('inner', 'a');
    checkout.define(
      'name: primary',
      `root: ${checkout.root}`,
      'linkedWorktreeLanes: true',
      'repositories: [{ path: inner }]',
    );
    served = await EnvironmentDeployment.start(checkout, { slots: 2 });
  });
  afterAll(async () => {
    await served.stop();
    checkout.remove();
  });

  it('has worktrees of its own, which run beside its repositories', async () => {
    const someone = served.caller();
    const [own, inner] = [newCallId(), newCallId()];
    const calls = [
      someone.run(untilGo, 'a', { callId: own }),
      someone.run(untilGo, 'a', { callId: inner, more: { repository: 'inner' } }),
    ];
    await Promise.all([someone.until(own, 'running'), someone.until(inner, 'running')]);
    writeFileSync(checkout.path('.worktrees/a/go'), '');
    writeFileSync(checkout.path('inner/.worktrees/a/go'), '');
    expect((await Promise.all(calls)).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  });

  it('keeps its own hooks from a command there, and those beneath are put right after it', async () => {
    const { stderr } = await served
      .caller()
      .run('echo x > .git/hooks/update; echo x > inner/.git/hooks/update');
    expect(stderr).toContain('In "inner": ".git/hooks/update" was made by the command');
    expect(existsSync(checkout.path('.git/hooks/update'))).toBe(false);
    expect(existsSync(checkout.path('inner/.git/hooks/update'))).toBe(false);
  });
});

describe('bridges that share a Redis', () => {
  const shared = new EnvironmentFolder();
  let redis: RedisServer;
  let served: EnvironmentDeployment;

  beforeAll(async () => {
    shared.addRepository('api', 'a', 'b');
    shared.addRepository('web');
    shared.define(
      'name: primary',
      `root: ${shared.root}`,
      'linkedWorktreeLanes: true',
      'repositories: [{ path: api, slots: 1 }, { path: web }]',
    );
    redis = await RedisServer.start();
    served = await EnvironmentDeployment.start(shared, {
      slots: 2,
      bridge: { store: { kind: 'redis', url: redis.url } },
    });
  });
  afterAll(async () => {
    await served.stop();
    await redis.stop();
    shared.remove();
  });

  it('[M2] know the slots of a repository too', async () => {
    const someone = served.caller();
    const [first, second] = [newCallId(), newCallId()];
    const a = someone.run(untilGo, 'a', { callId: first, more: { workspaceId: 'primary:api' } });
    await someone.until(first, 'running');
    const b = someone.run(stamped('true'), 'b', { callId: second, more: api });
    await someone.until(second, 'waiting');
    const other = spanOf(await someone.run(stamped('true'), undefined, { more: { repository: 'web' } }));
    writeFileSync(shared.path('api/.worktrees/a/go'), '');
    const [spanA, spanB] = (await Promise.all([a, b])).map(spanOf);
    if (!spanA || !spanB) throw new Error('two results');
    expect(before(spanA, spanB)).toBe(true);
    expect(other.end).toBeLessThan(spanA.end);
  });
});
