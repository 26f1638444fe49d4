import { mkdirSync, readdirSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { laneOf, type Assignment, type Lane, type Settlement } from '@codelanes/protocol';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import type { ToConnection } from '../connection/messages.js';
import { noNetwork } from '../environment/network-policy.js';
import { hostProcesses } from '../lanes/processes.js';
import { findPerl } from '../network/listener-program.js';
import { journalMark } from '../sandbox/bwrap-arguments.js';
import { Standby } from '../sandbox/standby.js';
import { CallDesk } from './call-desk.js';
import { takeRoot, type ServedRoot } from './served-root.js';

let fixture: LaneFixture;
let root: ServedRoot;
let standby: Standby;
let said: ToConnection[];
let desk: CallDesk;

beforeEach(() => serve(60_000));

async function serve(sandboxKeptMs: number): Promise<void> {
  fixture = new LaneFixture(['a', 'b']);
  mkdirSync(join(fixture.path('a'), 'inner'));
  const request = { id: 'primary', root: fixture.root, linkedWorktreeLanes: true, read: [] };
  root = await takeRoot(request, fixture.state);
  standby = new Standby(findPerl(), 2);
  said = [];
  const { machine, shared } = fixture;
  const networkHost = { listenerProgram: [], open: () => Promise.reject(new Error('There is no network.')) };
  const setting = { machine, shared, network: noNetwork, networkHost, caches: [], standby };
  desk = new CallDesk({
    roots: [root],
    slots: 2,
    connection: { send: (message) => said.push(message) },
    log: pino({ level: 'silent' }),
    commands: () => ({ ...setting, killGraceMs: 50, goneWithinMs: 50_000 }),
    ripgrep: undefined,
    sandboxKeptMs,
  });
  await expect.poll(() => standby.ready).toBe(2);
}

afterEach(stop);

async function stop(): Promise<void> {
  desk.stopAll();
  await desk.drain();
  standby.close();
  await root.close();
  fixture.remove();
}

const sandboxes = () => hostProcesses.withArguments(journalMark(root.journal.id));
const identity = (path: string) => statSync(path).ino;

let calls = 0;

/** Hands a command to the worker; resolves when it has been settled, with how. */
async function command(text: string, worktree?: string, cwd?: string): Promise<Settlement> {
  calls += 1;
  const callId = calls.toString(16).padStart(32, '0');
  const request = {
    protocolVersion: 1,
    operation: 'execute_command',
    workspaceId: 'primary',
    command: text,
    ...(worktree === undefined ? {} : { worktree }),
    ...(cwd === undefined ? {} : { cwd }),
  } satisfies Assignment['request'];
  desk.take({
    callId,
    generation: 1,
    token: 'f'.repeat(64),
    lane: laneOf(request),
    mode: 'exclusive',
    pool: 'command',
    executionMs: 60_000,
    request,
  });
  await expect.poll(() => settlementOf(callId)).toBeDefined();
  const settlement = settlementOf(callId);
  if (settlement === undefined || settlement.status === 'paused') throw new Error('It was not settled.');
  return settlement;
}

function settlementOf(callId: string) {
  return said.flatMap((each) =>
    each.kind === 'settle' && each.lease.callId === callId ? [each.settlement] : [],
  )[0];
}

const lastInit = () => said.flatMap((each) => (each.kind === 'started' ? [each.init] : [])).at(-1);

/** Runs a command in `a` during which another is said to wait, and shows the sandbox that then stands. */
async function untilOneStands() {
  const first = command('true', 'a');
  desk.expect(['primary', 'worktree:a']);
  await first;
  // Bubblewrap itself, and the first process of the namespace.
  await expect.poll(() => sandboxes().length).toBeGreaterThan(1);
  return sandboxes();
}

it('builds the sandbox of a command that is said to wait when the one before it has ended', async () => {
  const standing = await untilOneStands();
  const second = await command('pwd; echo "$1"; cat <<"end"\ntwo lines,\nas they stand\nend', 'a', 'inner');
  expect(second).toMatchObject({
    status: 'fulfilled',
    result: { exitCode: 0, stdout: `${fixture.path('a')}/inner\n\ntwo lines,\nas they stand\n` },
  });
  expect(standing.map(({ pid }) => pid)).toContain(lastInit()?.pid);
  expect(sandboxes()).toEqual([]);
});

it('runs a command there that is as long as one may be', async () => {
  const standing = await untilOneStands();
  const lines = 'echo line\n'.repeat(3_000);
  const second = await command(`pwd\n${lines}${'#'.repeat(32 * 1024 - lines.length - 4)}`, 'a', 'inner');
  expect(second).toMatchObject({
    result: { exitCode: 0, stdout: `${fixture.path('a')}/inner\n${'line\n'.repeat(3_000)}` },
  });
  expect(standing.map(({ pid }) => pid)).toContain(lastInit()?.pid);
});

it('builds none where nobody waits, or where nothing runs', async () => {
  desk.expect(['primary', 'worktree:a']);
  await command('true', 'a');
  expect(sandboxes()).toEqual([]);
});

it('ends one that nobody came for', async () => {
  await stop();
  await serve(8_000);
  await untilOneStands();
  await expect.poll(() => sandboxes()).toEqual([]);
  expect(await command('true', 'a')).toMatchObject({ result: { exitCode: 0 } });
});

it('ends one when a call gets a lane that overlaps, and not for a sibling', async () => {
  const standing = await untilOneStands();
  expect(await command('true', 'b')).toMatchObject({ result: { exitCode: 0 } });
  expect(standing.some((each) => hostProcesses.isGone(each))).toBe(false);
  expect(await command('git worktree list | wc -l')).toMatchObject({ result: { stdout: '3\n' } });
  await expect.poll(() => standing.every((each) => hostProcesses.isGone(each))).toBe(true);
});

it('ends one when the worker drains', async () => {
  const standing = await untilOneStands();
  await desk.drain();
  await expect.poll(() => standing.every((each) => hostProcesses.isGone(each))).toBe(true);
});

it('runs nothing in one whose worktree is another by then', async () => {
  await untilOneStands();
  const elsewhere = join(fixture.folder, 'elsewhere');
  renameSync(fixture.path('a'), elsewhere);
  symlinkSync(elsewhere, fixture.path('a'));
  expect(await command('touch ran', 'a')).toMatchObject({ status: 'rejected' });
  expect(() => identity(join(elsewhere, 'ran'))).toThrow('ENOENT');
  expect(sandboxes()).toEqual([]);
});

it('runs nothing in one for a command that cannot start where it is to', async () => {
  await untilOneStands();
  expect(await command('touch ran', 'a', 'nowhere')).toMatchObject({
    status: 'rejected',
    error: { code: 'INVALID_PATH' },
  });
  expect(sandboxes()).toEqual([]);
  expect(await command('ls', 'a', 'inner')).toMatchObject({ result: { stdout: '' } });
});

it('runs a command that cannot begin in one in a sandbox of its own', async () => {
  const standing = await untilOneStands();
  for (const each of standing) hostProcesses.kill(each);
  await expect.poll(() => standing.every((each) => hostProcesses.isGone(each))).toBe(true);
  expect(await command('echo ran | tee -a ran', 'a')).toMatchObject({ result: { stdout: 'ran\n' } });
  expect(await command('cat ran', 'a')).toMatchObject({ result: { stdout: 'ran\n' } });
});

it('runs a command in the worktree that was made anew meanwhile, and nothing in the one before', async () => {
  await untilOneStands();
  fixture.host('git worktree remove --force .worktrees/a && git worktree add -q -b again .worktrees/a');
  expect(await command('git branch --show-current; touch ran', 'a')).toMatchObject({
    result: { stdout: 'again\n' },
  });
  expect(statSync(join(fixture.path('a'), 'ran')).isFile()).toBe(true);
});

it('has ended the ones that stood when it has drained, and keeps nothing open for them', async () => {
  const descriptors = () => readdirSync('/proc/self/fd').length;
  await untilOneStands();
  await command('true', 'b');
  await command('true');
  await expect.poll(sandboxes).toEqual([]);
  await expect.poll(() => standby.ready).toBe(2);
  const before = descriptors();
  for (let turn = 0; turn < 3; turn += 1) {
    await untilOneStands();
    await command('true');
    await expect.poll(sandboxes).toEqual([]);
    await expect.poll(() => standby.ready).toBe(2);
  }
  await expect.poll(descriptors).toBeLessThanOrEqual(before);
  await untilOneStands();
  await desk.drain();
  expect(sandboxes()).toEqual([]);
});

it('builds none for a lane that is not offered, whatever a bridge says', async () => {
  const others: readonly Lane[] = [
    ['primary', 'worktree:b'],
    ['primary', 'worktree:../a'],
    ['other', 'worktree:a'],
    ['primary'],
  ];
  const first = command('true', 'a');
  for (const lane of others) desk.expect(lane);
  await first;
  expect(sandboxes()).toEqual([]);
});
