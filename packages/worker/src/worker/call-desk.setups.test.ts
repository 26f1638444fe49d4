import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { laneKey } from '@codelanes/protocol';
import type { Assignment, Pause, Settlement } from '@codelanes/protocol';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import type { ToConnection } from '../connection/messages.js';
import { noNetwork } from '../environment/network-policy.js';
import type { RepositorySetup } from '../environment/setup.js';
import { Directory, identityOf } from '../files/directory.js';
import { meetClosedFolders } from '../files/testing/closed-folders.js';
import { findSetup, readSetupLog } from '../setup/listed-setups.js';
import { requestRetry } from '../setup/retries.js';
import { SetupStates } from '../setup/setup-states.js';
import { CallDesk } from './call-desk.js';
import { takeRoot, type ServedRoot } from './served-root.js';

let fixture: LaneFixture;
let root: ServedRoot;
let said: ToConnection[];
let desk: CallDesk;
let stopWatching: () => void;
/** The lanes with a failed setup, each time that others may be. */
let failures: (readonly unknown[])[];
/** On a machine that is out of order no sandbox can be built. */
let isOutOfOrder: boolean;

beforeEach(() => {
  fixture = new LaneFixture(['a', 'b']);
});
afterEach(async () => {
  stopWatching();
  desk.stopAll();
  await desk.drain();
  await root.close();
  fixture.remove();
});

const identityAt = (path: string) => identityOf(statSync(path, { bigint: true }));

/** A worker's desk on the folder around the repository, in which the repository is declared with this setup. */
async function serve(command: string, more: Partial<RepositorySetup> = {}): Promise<void> {
  const repository = {
    path: 'repo',
    workspaceId: 'primary:repo',
    checkout: fixture.root,
    identity: identityAt(fixture.root),
    gitIdentity: identityAt(fixture.git),
    setup: { command, timeoutMs: 30_000, ...more },
  };
  const request = { id: 'primary', root: join(fixture.folder, 'home'), linkedWorktreeLanes: true, read: [] };
  root = await takeRoot({ ...request, repositories: [repository] }, fixture.state);
  said = [];
  failures = [];
  isOutOfOrder = false;
  const { machine, shared } = fixture;
  const networkHost = {
    listenerProgram: [],
    open: () => Promise.reject(new Error('Nothing here has a network.')),
  };
  const setting = { machine, shared, network: noNetwork, networkHost, killGraceMs: 50, goneWithinMs: 50_000 };
  desk = new CallDesk({
    roots: [root],
    slots: 2,
    connection: { send: (message) => said.push(message) },
    log: pino({ level: 'silent' }),
    commands: () => ({
      ...setting,
      shared: isOutOfOrder ? { ...shared, gitConfig: '/nowhere' } : shared,
      caches: [],
    }),
    onFailedSetups: () => failures.push(desk.failedSetups),
    ripgrep: undefined,
  });
  stopWatching = desk.watchSetups();
}

const token = 'f'.repeat(64);
const calls = '0123456789abcdef';
let next = 0;

function assignment(request: Assignment['request']): Assignment {
  const callId =
    (calls[next++ % calls.length] ?? '0').repeat(31) + (calls[Math.floor(next / 16) % 16] ?? '0');
  // What the wire says that it occupies is not relied on.
  return {
    callId,
    generation: 1,
    token,
    lane: ['x'],
    mode: 'shared',
    pool: 'file',
    executionMs: 60_000,
    request,
  };
}

const inLane = (worktree?: string) => ({
  protocolVersion: 1 as const,
  workspaceId: 'primary',
  repository: 'repo',
  ...(worktree === undefined ? {} : { worktree }),
});
const command = (text: string, worktree?: string) =>
  assignment({ ...inLane(worktree), operation: 'execute_command', command: text });
const setupOf = (worktree: string) => assignment({ ...inLane(worktree), operation: 'setup' });

async function settled(call: Assignment): Promise<Settlement | Pause> {
  desk.take(call);
  const find = () =>
    said.flatMap((message) =>
      message.kind === 'settle' && message.lease.callId === call.callId ? [message.settlement] : [],
    );
  await expect.poll(find).toHaveLength(1);
  const [settlement] = find();
  if (settlement === undefined) throw new Error('It was settled.');
  return settlement;
}

const reports = () => said.flatMap((message) => (message.kind === 'report' ? [message.report] : []));
const lane = (worktree: string) => ['primary', 'repo:repo', `worktree:${worktree}`];
const unready = (worktree: string) => ({ state: 'unready', lane: lane(worktree), timeoutMs: 30_000 });
const ready = { status: 'fulfilled', result: { protocolVersion: 1, operation: 'setup', state: 'ready' } };

describe('a lane whose repository has a setup', () => {
  it('gives its first command back behind the setup, runs that once, then lets commands in', async () => {
    await serve('echo ran >> runs');
    const first = command('cat runs', 'a');
    desk.take(first);
    const { callId } = first;
    await expect.poll(reports).toEqual([unready('a'), { callId, generation: 1, token, state: 'busy' }]);
    expect(await settled(setupOf('a'))).toEqual(ready);
    expect(await settled(setupOf('a'))).toEqual(ready);
    expect(await settled({ ...command('cat runs', 'a') })).toMatchObject({ result: { stdout: 'ran\n' } });
    // The other lane has a run of its own.
    desk.take(command('true', 'b'));
    await expect.poll(reports).toContainEqual(unready('b'));
  });

  it('runs one setup for calls that come at once', async () => {
    await serve('echo ran >> runs; sleep 0.2');
    expect(await Promise.all([settled(setupOf('a')), settled(setupOf('a'))])).toEqual([ready, ready]);
    expect(readFileSync(join(fixture.path('a'), 'runs'), 'utf8')).toBe('ran\n');
  });

  it('lets reads go on and keeps writes and commands off while the setup runs', async () => {
    await serve('echo begun; sleep 600');
    desk.take(setupOf('a'));
    await expect.poll(() => said.some(({ kind }) => kind === 'started')).toBe(true);
    const read = await settled(assignment({ ...inLane('a'), operation: 'read_file', path: 'file' }));
    expect(read.status).toBe('fulfilled');
    desk.take(command('true', 'a'));
    desk.take(assignment({ ...inLane('a'), operation: 'write_file', path: 'x', content: '' }));
    desk.take(command('true'));
    expect(reports().map(({ state }) => state)).toEqual(['busy', 'busy', 'busy']);
  });

  it('refuses commands after a setup that failed: why, the end of its log, how to go on; reads go on', async () => {
    await serve('echo "no such package: leftpad" >&2; exit 3');
    expect(await settled(setupOf('a'))).toMatchObject({ result: { state: 'failed' } });
    const refused = await settled(command('true', 'a'));
    expect(refused).toMatchObject({ status: 'rejected', error: { code: 'WORKSPACE_SETUP_FAILED' } });
    const message = refused.status === 'rejected' ? refused.error.message : '';
    expect(message).toContain('The setup of primary/repo/.worktrees/a failed. It ended with status 3.');
    expect(message).toContain('codelanes setup retry primary/repo/.worktrees/a');
    expect(message).toContain('Its log ends:\nno such package: leftpad');
    const read = await settled(assignment({ ...inLane('a'), operation: 'read_file', path: 'file' }));
    expect(read.status).toBe('fulfilled');
    // A setup call that the bridge had left over runs nothing.
    expect(await settled(setupOf('a'))).toMatchObject({ result: { state: 'failed' } });
  });

  it('is set up again when the operator asks for it', async () => {
    await serve('[ -e mended ] || exit 1');
    await settled(setupOf('a'));
    const listed = findSetup(fixture.state, lane('a'));
    if (listed?.retry === undefined) throw new Error('It has been set up.');
    expect(listed.record.state).toBe('failed');
    expect(readSetupLog(listed)).toContain('It ended with status 1.');
    fixture.host('touch mended', fixture.path('a'));
    requestRetry(listed.retry);
    await expect.poll(reports).toContainEqual(unready('a'));
    expect(await settled(setupOf('a'))).toEqual(ready);
    expect(findSetup(fixture.state, lane('a'))?.record.state).toBe('ready');
  });

  it('that the machine does not let begin is told to the command that waits, and tried again for the next', async () => {
    await serve('echo ran >> runs');
    isOutOfOrder = true;
    const first = command('cat runs', 'a');
    desk.take(first);
    await expect.poll(reports).toContainEqual(unready('a'));
    expect(await settled(setupOf('a'))).toMatchObject({ result: { state: 'failed' } });
    const refused = await settled({ ...first, token: 'e'.repeat(64) });
    expect(refused).toMatchObject({ status: 'rejected', error: { code: 'COMMAND_UNAVAILABLE' } });
    const message = refused.status === 'rejected' ? refused.error.message : '';
    expect(message).toMatch(
      /^The setup of primary\/repo\/\.worktrees\/a could not begin\. The sandbox .* the next command there has it tried again\.$/s,
    );
    expect(findSetup(fixture.state, lane('a'))?.record.state).toBe('faulted');
    expect(desk.failedSetups).toEqual([]);
    isOutOfOrder = false;
    const before = reports().length;
    desk.take(command('cat runs', 'a'));
    await expect.poll(() => reports().slice(before)).toContainEqual(unready('a'));
    expect(await settled(setupOf('a'))).toEqual(ready);
    expect(await settled(command('cat runs', 'a'))).toMatchObject({ result: { stdout: 'ran\n' } });
  });

  it('is told of while its setup has failed, and no longer once that is retried or the worktree is gone', async () => {
    await serve('exit 3');
    const failed = (name: string) => ({
      lane: lane(name),
      cause: 'failed_setup',
      reason: 'It ended with status 3.',
      since: expect.any(Number) as number,
    });
    await settled(setupOf('a'));
    await settled(setupOf('b'));
    expect(failures.at(-1)).toEqual([failed('a'), failed('b')]);
    const listed = findSetup(fixture.state, lane('a'));
    if (listed?.retry === undefined) throw new Error('It has been set up.');
    requestRetry(listed.retry);
    await expect.poll(() => failures.at(-1)).toEqual([failed('b')]);
    const anew = 'git worktree remove --force .worktrees/b && git worktree add -q .worktrees/b lane/b';
    await settled(command(anew));
    expect(failures.at(-1)).toEqual([]);
  });

  it('that a command of the checkout has made is announced when that ends, and before its caller hears', async () => {
    await serve('true');
    await settled(command('git worktree add -q -b lane/new .worktrees/new && mkdir .worktrees/none'));
    const kinds = said.map((message) => (message.kind === 'report' ? message.report.state : message.kind));
    expect(kinds).toEqual(['started', 'unready', 'settle']);
    expect(reports()).toEqual([unready('new')]);
    desk.announceSetups();
    expect(reports()).toEqual([unready('new'), unready('new')]);
    expect(await settled(setupOf('new'))).toEqual(ready);
    desk.announceSetups();
    expect(reports()).toHaveLength(2);
  });

  it('lets the caller of a command hear, and others go on, that closed the folder of worktrees', async () => {
    await serve('true');
    meetClosedFolders();
    const closing = await settled(command('chmod 0 .worktrees'));
    expect(JSON.stringify(closing)).toContain('The lane is closed until that is settled.');
    expect(await settled(command('true'))).toMatchObject({ error: { code: 'WORKSPACE_QUARANTINED' } });
    for (const closed of root.quarantine.list()) await root.quarantine.release(laneKey(closed.lane));
    const refused = await settled(command('true'));
    expect(refused).toMatchObject({ status: 'rejected', error: { code: 'COMMAND_UNAVAILABLE' } });
    expect(JSON.stringify(refused)).toContain('The checkout cannot be looked through');
    fixture.host('chmod 755 .worktrees');
    expect((await settled(command('true'))).status).toBe('fulfilled');
  });

  it('goes on when a sibling has closed what Git keeps of it', async () => {
    await serve('true');
    await settled(setupOf('a'));
    meetClosedFolders();
    fixture.host('chmod 0 .git/worktrees/b');
    expect((await settled(command('git status', 'a'))).status).toBe('fulfilled');
    fixture.host('chmod 755 .git/worktrees/b');
  });

  it('is not announced where its worktree cannot be looked at, and nothing else ends of that', async () => {
    await serve('true');
    await settled(command('git worktree add -q -b lane/new .worktrees/new'));
    expect(reports()).toEqual([unready('new')]);
    const look = vi.spyOn(Directory.prototype, 'child').mockImplementation(() => {
      throw new Error('EIO: i/o error');
    });
    desk.announceSetups();
    expect(look).toHaveBeenCalled();
    expect([reports(), desk.failedSetups]).toEqual([[unready('new')], []]);
  });

  it('lets the caller hear whatever comes of the look at what its command has made', async () => {
    await serve('true');
    const look = vi.spyOn(SetupStates.prototype, 'look').mockImplementation(() => {
      throw new Error('a fault of its own');
    });
    expect((await settled(command('true'))).status).toBe('fulfilled');
    expect(look).toHaveBeenCalledOnce();
  });

  it('that was stopped in the middle is neither ready nor failed', async () => {
    await serve('echo begun; sleep 600');
    const setup = setupOf('a');
    desk.take(setup);
    await expect.poll(() => said.some(({ kind }) => kind === 'started')).toBe(true);
    desk.stop(setup.callId);
    await desk.drain();
    expect(said.at(-1)).toMatchObject({
      kind: 'settle',
      settlement: { status: 'rejected', error: { code: 'EXECUTION_ABORTED' } },
    });
    expect(findSetup(fixture.state, lane('a'))?.record.state).toBe('interrupted');
  });

  it('tells its first command what its setup left running', async () => {
    await serve('sleep 600 & until grep -q sleep /proc/$!/comm; do :; done');
    await settled(setupOf('a'));
    const first = await settled(command('true', 'a'));
    expect(JSON.stringify(first)).toContain('left \\"sleep\\" running');
    expect(JSON.stringify(await settled(command('true', 'a')))).not.toContain('sleep');
  });

  it('has none at the checkout', async () => {
    await serve('exit 1');
    expect((await settled(command('true'))).status).toBe('fulfilled');
    const setup = await settled(assignment({ ...inLane(), operation: 'setup' }));
    expect(setup).toMatchObject({ status: 'rejected', error: { code: 'WORKER_MISMATCH' } });
  });
});
