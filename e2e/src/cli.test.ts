import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallLog, logging, loggingUntil } from './rig/call-log.js';
import { Cli } from './rig/cli.js';
import { childrenOf } from './rig/live-children.js';
import { newMarker, processesWith, untilGone, untilSleeping } from './rig/live-processes.js';
import { overlap, spanOf, stamped } from './rig/stamps.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let up: Cli;
let state: string;

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  state = join(repository.folder, 'state');
  up = Cli.start(['up', '--root', repository.root, '--port', '0', '--state', state, '--allow-root']);
  await up.said('These facts are kept in');
});
afterAll(async () => {
  await up.end('SIGKILL');
  repository.remove();
});

const exec = (...words: readonly string[]) => Cli.start(['exec', '--state', state, ...words]);
const fileOf = (lane: string) => repository.path('calls.log', lane);

/** The bridge or the worker that `codelanes up` runs at present. */
function childOf(name: 'bridge' | 'worker'): number {
  const child = childrenOf(up.process.pid ?? 0).find(({ words }) => words.includes(name));
  if (child === undefined) throw new Error(`no ${name} runs`);
  return child.pid;
}

describe('codelanes up', () => {
  it('says how to call it, and keeps its tokens to their owner', () => {
    expect(up.stdout).toMatch(/Serving repo at http:\/\/127\.0\.0\.1:\d+\. Ctrl-C stops\./);
    expect(up.stdout).toContain(`codelanes exec --state ${state} --worktree a -- npm test`);
    for (const file of ['tokens/caller', 'tokens/admin', 'tokens/worker', 'connection.json']) {
      expect(statSync(join(state, file)).mode & 0o077).toBe(0);
    }
    const token = readFileSync(join(state, 'tokens/caller'), 'utf8').trim();
    expect(`${up.stdout}${up.stderr}`).not.toContain(token);
    expect(processesWith(token)).toEqual([]);
  });

  it('refuses a second one with its state folder, and stays the one that is found', async () => {
    const second = Cli.start([
      'up',
      '--root',
      repository.root,
      '--port',
      '0',
      '--state',
      state,
      '--allow-root',
    ]);
    const { status, stderr } = await second.ended;
    expect(status).toBe(1);
    expect(stderr).toContain(`Another "codelanes up" runs with the state folder ${state}.`);
    expect((await exec('--', 'true').ended).status).toBe(0);
  });

  it('[L22] runs commands of two worktrees side by side, each with its own output and status', async () => {
    const work = 'pwd >&2; touch began; until [ -e both ]; do sleep 0.05; done';
    const inLane = (lane: string, status: number) =>
      exec('--worktree', lane, '--', `${stamped(work)}; exit ${status}`).ended;
    const calls = Promise.all([inLane('a', 0), inLane('b', 3)]);
    for (const lane of ['a', 'b']) {
      await expect.poll(() => existsSync(repository.path('began', lane))).toBe(true);
    }
    for (const lane of ['a', 'b']) writeFileSync(repository.path('both', lane), '');
    const [a, b] = await calls;
    expect([a.status, b.status]).toEqual([0, 3]);
    expect([a.stderr, b.stderr]).toEqual(['a', 'b'].map((lane) => `${repository.path('', lane)}\n`));
    expect(overlap(spanOf(a), spanOf(b))).toBe(true);
  });

  it('shows why a call waits, and since when', async () => {
    const running = exec('--worktree', 'a', '--', loggingUntil('runs', 'go'));
    await CallLog.untilWorking(fileOf('a'), 'runs');
    // A worker tells a start a little later.
    const lanesOf = (...words: readonly string[]) => Cli.run(['lanes', '--state', state, ...words]);
    const told = async () => (await lanesOf('--json')).stdout;
    await expect.poll(told).toMatch(/"state": ?"running"/u);
    const waits = exec('--', 'true');
    await waits.said(
      /call [0-9a-f]{32} for repo waits behind the call [0-9a-f]{32} running in repo\/\.worktrees\/a for /,
    );
    const lanes = await lanesOf();
    expect(lanes.stdout).toMatch(
      /RUNS IN[^]*repo\/\.worktrees\/a +execute_command +running[^]*WAITS FOR[^]*repo +execute_command/,
    );
    writeFileSync(repository.path('go', 'a'), '');
    expect((await running.ended).status).toBe(0);
    expect((await waits.ended).status).toBe(0);
  });

  it.each(['worker', 'bridge'] as const)(
    '[T70] brings a killed %s back, and every lane is as usable as before',
    async (name) => {
      const marker = newMarker();
      const id = `under-${name}`;
      const call = exec('--worktree', 'a', '--', `setsid sleep ${marker} & ${logging(id, 5_000)}`);
      await CallLog.untilWorking(fileOf('a'), id);
      await untilSleeping(marker);
      process.kill(childOf(name), 'SIGKILL');
      const { status, stderr } = await call.ended;
      expect(status).toBe(123);
      expect(stderr).toMatch(/outcome.*unknown/);
      await up.said(`The ${name} ended (SIGKILL); starting it again.`);
      await up.said(new RegExp(`The ${name} is back \\(process \\d+\\)`));
      await untilGone(marker);
      // A bridge that has just been started knows its worker a moment later.
      await expect.poll(async () => (await exec('--', 'true').ended).status).toBe(0);
      expect(await exec('--worktree', 'a', '--', logging(`after-${name}`, 1)).ended).toMatchObject({
        status: 0,
      });
      expect(await exec('--', 'true').ended).toMatchObject({ status: 0 });
      const log = CallLog.read(fileOf('a'));
      expect(log.meetings).toEqual([]);
      expect(log.call(id)).toMatchObject({ begins: 1, ends: 0 });
    },
  );

  it('says of calls that cannot be sent what is wrong and that nothing ran', async () => {
    const lane = await exec('--worktree', 'missing', '--', 'true').ended;
    expect(lane.status).toBe(125);
    expect(lane.stderr).toMatch(/missing/);
    const name = await exec('--worktree', '../a', '--', 'true').ended;
    expect(name.status).toBe(125);
    expect(name.stderr).toContain('The call cannot be sent: worktree:');
    const workspace = await exec('--workspace', 'other', '--', 'true').ended;
    expect(workspace.status).toBe(125);
    expect(workspace.stderr).toContain('WORKER_MISMATCH');
  });

  it('stops with what it started: what runs ends first, and nothing is left', async () => {
    const marker = newMarker();
    const call = exec('--worktree', 'b', '--', `${loggingUntil('last', 'stop-asked')}; : ${marker}`);
    await CallLog.untilWorking(fileOf('b'), 'last');
    const children = ['bridge', 'worker'] as const;
    const pids = children.map(childOf);
    const stopped = up.end('SIGTERM');
    await up.said('Stopping: nothing new is taken');
    writeFileSync(repository.path('stop-asked', 'b'), '');
    expect((await stopped).status).toBe(0);
    expect((await call.ended).status).toBe(0);
    expect(CallLog.read(fileOf('b')).call('last')).toMatchObject({ begins: 1, ends: 1 });
    expect(processesWith(marker)).toEqual([]);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
