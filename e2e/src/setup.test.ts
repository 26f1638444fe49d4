import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BridgeOptions } from '@codelanes/bridge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCallId, type Caller } from './rig/caller.js';
import { Cli } from './rig/cli.js';
import { EnvironmentDeployment, EnvironmentFolder } from './rig/environment.js';
import { newMarker, processesWith, untilGone } from './rig/live-processes.js';
import { RedisServer } from './rig/redis-server.js';

/** What the setup of `api` does goes by the name of the worktree, so that each test has its own. */
const scriptWith = (marker: string, server: string) => [
  'echo "$CODELANES_WORKTREE" >> ran',
  'case $CODELANES_WORKTREE in',
  '  gated*) until [ -e go ]; do sleep 0.05; done;;',
  '  broken*) [ -e mended ] || { echo "no such package: leftpad" >&2; exit 3; };;',
  '  lengthy*) sleep 7;;',
  '  server*)',
  `    node -e "require('http').createServer().listen(8731, () => require('fs').writeFileSync('listens', ''))" ${server} &`,
  '    until [ -e listens ]; do sleep 0.05; done;;',
  `  parent*) sleep ${marker} & until grep -qx sleep /proc/$!/comm; do :; done;;`,
  'esac',
  'echo complete > state',
];

const keptIn = (redis: RedisServer | undefined): Partial<BridgeOptions> =>
  redis === undefined ? {} : { store: { kind: 'redis', url: redis.url } };

describe.each(['memory', 'redis'] as const)('the setup of a repository, store %s', (store) => {
  let environment: EnvironmentFolder;
  let deployment: EnvironmentDeployment;
  let caller: Caller;
  let redis: RedisServer | undefined;
  const [marker, server, slow, silent] = [newMarker(), newMarker(), newMarker(), newMarker()] as const;
  beforeAll(async () => {
    environment = new EnvironmentFolder();
    environment.addRepository('api');
    environment.addRepository('slow', 'a');
    environment.addRepository('silent', 'a');
    environment.define(
      'name: primary',
      `root: ${environment.root}`,
      'linkedWorktreeLanes: true',
      'repositories:',
      '  - path: api',
      '    setup:',
      '      command: |',
      ...scriptWith(marker, server).map((line) => `        ${line}`),
      '  - path: slow',
      `    setup: { command: "sleep ${slow} & echo begun; sleep ${slow}", timeoutMs: 5000 }`,
      '  - path: silent',
      `    setup: { command: "sleep ${silent} & echo begun; sleep ${silent}", idleTimeoutMs: 5000 }`,
    );
    redis = store === 'redis' ? await RedisServer.start() : undefined;
    deployment = await EnvironmentDeployment.start(environment, { slots: 3, bridge: keptIn(redis) });
    caller = deployment.caller();
  });
  afterAll(async () => {
    await deployment.stop();
    await redis?.stop();
    environment.remove();
  });

  const api = { repository: 'api' };
  const path = (worktree: string, ...names: readonly string[]) =>
    environment.path('api', '.worktrees', worktree, ...names);
  /** As a person does, on the machine. */
  const addByHand = (worktree: string, repository = 'api') =>
    environment.git(
      repository,
      'worktree',
      'add',
      '--quiet',
      '-b',
      `lane/${worktree}`,
      `.worktrees/${worktree}`,
    );
  const runIn = (worktree: string, command: string, callId = newCallId()) =>
    caller.run(command, worktree, { callId, more: api, queueWaitMs: 60_000 });
  const setup = (...words: readonly string[]) =>
    Cli.run(['setup', ...words, '--state', join(environment.folder, 'state')]);
  const laneOf = (worktree: string) => `primary/api/.worktrees/${worktree}`;
  const ready = 'cat ran state';

  it('[M4] runs once in a worktree that a command made, without being asked for and before its first command', async () => {
    await caller.run('git worktree add -q -b lane/made .worktrees/made', undefined, { more: api });
    // Nobody calls into it.
    await expect.poll(() => existsSync(path('made', 'state'))).toBe(true);
    expect((await runIn('made', ready)).stdout).toBe('made\ncomplete\n');
    expect((await runIn('made', ready)).stdout).toBe('made\ncomplete\n');
  });

  it('[T51] runs once for ten first calls that come at once, by field and by alias', async () => {
    addByHand('ten');
    const byAlias = () =>
      caller.run(ready, 'ten', { more: { workspaceId: 'primary:api' }, queueWaitMs: 60_000 });
    const calls = Array.from({ length: 10 }, (_, each) => (each % 2 === 0 ? runIn('ten', ready) : byAlias()));
    const outputs = (await Promise.all(calls)).map(({ stdout }) => stdout);
    expect(outputs).toEqual(Array.from({ length: 10 }, () => 'ten\ncomplete\n'));
  });

  it('[T51] runs again in a worktree that is made anew, and not after a restart', async () => {
    addByHand('again');
    await runIn('again', 'true');
    await deployment.killWorker();
    await deployment.startWorker(3);
    expect((await runIn('again', ready)).stdout).toBe('again\ncomplete\n');
    environment.git('api', 'worktree', 'remove', '--force', '.worktrees/again');
    environment.git('api', 'worktree', 'add', '--quiet', '.worktrees/again', 'lane/again');
    expect((await runIn('again', ready)).stdout).toBe('again\ncomplete\n');
  });

  it('[T45] keeps commands waiting, which are told of it and never run elsewhere, and lets reads go on', async () => {
    const name = 'gated-wait';
    await caller.run(`git worktree add -q -b lane/${name} .worktrees/${name}`, undefined, { more: api });
    await expect.poll(() => existsSync(path(name, 'ran'))).toBe(true);
    const lane = { ...api, worktree: name };
    const read = await caller.succeed({ operation: 'read_file', path: 'name.txt', ...lane });
    expect(read).toMatchObject({ operation: 'read_file' });
    const { running } = await caller.lanes();
    expect(running.map(({ operation, lane: where }) => [operation, where])).toContainEqual([
      'setup',
      ['primary', 'repo:api', `worktree:${name}`],
    ]);
    const command = { operation: 'execute_command', command: 'touch fell-back', ...lane };
    const answer = await caller.call(command, { queueWaitMs: 200 });
    expect(answer.status).toBe(503);
    expect(answer.text).toContain('"operation":"setup"');
    expect(['api', '.'].some((folder) => existsSync(environment.path(folder, 'fell-back')))).toBe(false);
    const waiting = newCallId();
    const waits = runIn(name, ready, waiting);
    await caller.until(waiting, 'waiting');
    await caller.succeed({ operation: 'list_files', ...lane });
    writeFileSync(path(name, 'go'), '');
    expect((await waits).stdout).toBe(`${name}\ncomplete\n`);
  });

  it('is run again when its worker was killed in the middle, and no command sees it half done', async () => {
    addByHand('gated-kill');
    const waits = runIn('gated-kill', ready);
    await expect.poll(() => existsSync(path('gated-kill', 'ran'))).toBe(true);
    await deployment.killWorker();
    const status = await setup('status');
    expect(status.stdout).toMatch(/gated-kill +interrupted/);
    await deployment.startWorker(3);
    await expect.poll(() => readFileSync(path('gated-kill', 'ran'), 'utf8')).toBe('gated-kill\ngated-kill\n');
    writeFileSync(path('gated-kill', 'go'), '');
    expect((await waits).stdout).toBe('gated-kill\ngated-kill\ncomplete\n');
  });

  it('[T44] that fails closes its lane to commands, says why and how to go on, cleans nothing, and can be retried', async () => {
    addByHand('broken');
    writeFileSync(path('broken', 'by-hand'), 'of a person\n');
    const lane = { ...api, worktree: 'broken' };
    const refused = await caller.refused(
      { operation: 'execute_command', command: 'touch fell-back', ...lane },
      { queueWaitMs: 60_000 },
    );
    expect(refused).toMatchObject({ status: 422, code: 'WORKSPACE_SETUP_FAILED' });
    expect(refused.error).toContain('It ended with status 3.');
    expect(refused.error).toContain('no such package: leftpad');
    expect(refused.error).toContain(`codelanes setup retry ${laneOf('broken')}`);
    const places = [
      path('broken', 'fell-back'),
      ...['api', '.'].map((at) => environment.path(at, 'fell-back')),
    ];
    expect(places.filter((place) => existsSync(place))).toEqual([]);
    expect(readFileSync(path('broken', 'by-hand'), 'utf8')).toBe('of a person\n');
    expect(await caller.succeed({ operation: 'read_file', path: 'by-hand', ...lane })).toBeDefined();

    expect((await setup('status')).stdout).toMatch(/broken +failed .*It ended with status 3\./);
    const failed = async () => (await caller.lanes()).failedSetups.map(({ lane: where }) => where.at(-1));
    await expect.poll(failed).toContain('worktree:broken');
    expect((await setup('log', laneOf('broken'))).stdout).toContain('no such package: leftpad\n');
    writeFileSync(path('broken', 'mended'), '');
    expect((await setup('retry', laneOf('broken'))).status).toBe(0);
    await expect.poll(() => existsSync(path('broken', 'state'))).toBe(true);
    expect((await runIn('broken', ready)).stdout).toBe('broken\nbroken\ncomplete\n');
    await expect.poll(failed).not.toContain('worktree:broken');
    expect((await setup('retry', 'primary/api/.worktrees/unknown')).status).not.toBe(0);
  });

  it('[T44] [T46] that hangs is ended with all that it started when its time is over, and closes its lane', async () => {
    const hangs = { operation: 'execute_command', command: 'true', repository: 'slow', worktree: 'a' };
    const refused = await caller.refused(hangs, { queueWaitMs: 60_000 });
    expect(refused).toMatchObject({ code: 'WORKSPACE_SETUP_FAILED' });
    expect(refused.error).toContain('took longer than 5 s');
    expect(refused.error).toContain('begun');
    await untilGone(slow);
  });

  it('[T46] that says nothing for longer than it may is ended with all that it started, and closes its lane', async () => {
    const hangs = { operation: 'execute_command', command: 'true', repository: 'silent', worktree: 'a' };
    const refused = await caller.refused(hangs, { queueWaitMs: 60_000 });
    expect(refused).toMatchObject({ code: 'WORKSPACE_SETUP_FAILED' });
    expect(refused.error).toContain('said nothing for 5 s');
    expect(refused.error).toContain('begun');
    await untilGone(silent);
  });

  it('[T44] has a time of its own: a command that may take less than its setup waits for that and succeeds', async () => {
    addByHand('lengthy');
    const more = { ...api, timeoutMs: 6_000 };
    const first = await caller.run(ready, 'lengthy', { more, queueWaitMs: 60_000 });
    expect(first).toMatchObject({ exitCode: 0, timedOut: false, stdout: 'lengthy\ncomplete\n' });
  });

  it('[T52] is the command of the operator, whatever a branch says of it', async () => {
    addByHand('branch');
    const definition = readFileSync(environment.file, 'utf8');
    const changed = definition.replace('echo complete > state', 'echo of-the-branch > state');
    expect(changed).not.toBe(definition);
    writeFileSync(path('branch', 'environment.yaml'), changed);
    environment.git('api', '-C', '.worktrees/branch', 'add', '.');
    environment.git('api', '-C', '.worktrees/branch', 'commit', '--quiet', '--message=Change the setup');
    expect((await runIn('branch', ready)).stdout).toBe('branch\ncomplete\n');
  });

  it('[T46] leaves nothing running: what its command left is ended, and the first command is told so', async () => {
    addByHand('parent');
    const first = await runIn('parent', ready);
    expect(first).toMatchObject({ exitCode: 0, stdout: 'parent\ncomplete\n' });
    expect(first.stderr).toContain('codelanes: The setup of this lane left "sleep" running');
    expect((await setup('status')).stdout).toMatch(/parent +ready .*it left running, which was ended: sleep/);
    await untilGone(marker);
    expect(processesWith(marker)).toEqual([]);
    expect((await runIn('parent', 'true')).stderr).toBe('');
  });

  it('[T49] leaves a server that is gone before its worktree is removed, and nothing after that', async () => {
    await caller.run('git worktree add -q -b lane/server .worktrees/server', undefined, { more: api });
    await expect.poll(() => existsSync(path('server', 'state'))).toBe(true);
    expect(existsSync(path('server', 'listens'))).toBe(true);
    await untilGone(server);
    const port = await runIn(
      'server',
      '(exec 9<>/dev/tcp/127.0.0.1/8731) 2>/dev/null && echo open || echo free',
    );
    expect(port.stdout).toBe('free\n');
    expect(port.stderr).toContain('codelanes: The setup of this lane left "node" running');
    const removed = await caller.run('git worktree remove --force .worktrees/server', undefined, {
      more: api,
    });
    expect(removed.exitCode).toBe(0);
    expect([existsSync(path('server')), processesWith(server)]).toEqual([false, []]);
    expect(environment.git('api', 'worktree', 'list')).not.toContain('server');
  });

  it('comes ahead of the commands of its lane, whoever else wants the only slot', async () => {
    const other = new EnvironmentFolder();
    other.addRepository('api', 'a', 'b');
    other.define(
      'name: primary',
      `root: ${other.root}`,
      'linkedWorktreeLanes: true',
      'repositories: [{ path: api, setup: { command: "echo $CODELANES_WORKTREE > ran" } }]',
    );
    const itsRedis = store === 'redis' ? await RedisServer.start() : undefined;
    const single = await EnvironmentDeployment.start(other, { slots: 1, bridge: keptIn(itsRedis) });
    try {
      const run = (worktree?: string) =>
        single.caller().run('cat ran || true', worktree, { more: api, queueWaitMs: 60_000 });
      const results = await Promise.all([run('a'), run('b'), run(), run('a'), run('b')]);
      expect(results.map(({ stdout }) => stdout)).toEqual(['a\n', 'b\n', '', 'a\n', 'b\n']);
    } finally {
      await single.stop();
      await itsRedis?.stop();
      other.remove();
    }
  });
});
