import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Assignment, Pause, Settlement, ToolResult } from '@codelanes/protocol';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import type { ToConnection } from '../connection/messages.js';
import { noNetwork } from '../environment/network-policy.js';
import { hostProcesses, type ProcessIdentity } from '../lanes/processes.js';
import { findScriptPrograms, type ScriptPrograms } from '../programmatic/script-programs.js';
import { descendantsOf } from '../sandbox/process-tree.js';
import { CallDesk } from './call-desk.js';
import { recoverRoot } from './recovery.js';
import { scriptsFolder, takeRoot, type ServedRoot } from './served-root.js';

const log = pino({ level: 'silent' });
let fixture: LaneFixture;
let programs: ScriptPrograms | undefined;
let root: ServedRoot;
let said: ToConnection[];
let desk: CallDesk;

beforeEach(async () => {
  fixture = new LaneFixture(['a', 'b']);
  programs = await findScriptPrograms(fixture.machine, () => undefined);
  said = [];
  await serve();
});
afterEach(async () => {
  desk.stopAll();
  await desk.drain();
  await root.close();
  fixture.remove();
});

async function serve(pausedMs?: number): Promise<void> {
  const request = { id: 'primary', root: fixture.root, linkedWorktreeLanes: true, read: [] };
  root = await takeRoot(request, fixture.state);
  open(pausedMs);
}

function open(pausedMs?: number): void {
  const { machine, shared } = fixture;
  const networkHost = {
    listenerProgram: [],
    open: () => Promise.reject(new Error('Nothing here has a network.')),
  };
  const clocks = { killGraceMs: 50, goneWithinMs: 50_000 };
  desk = new CallDesk({
    roots: [root],
    slots: 2,
    connection: { send: (message) => said.push(message) },
    log,
    commands: () => ({ machine, shared, network: noNetwork, networkHost, caches: [], ...clocks }),
    scripts: { programs, pausedMs },
    ripgrep: undefined,
  });
}

let next = 0;
const newId = () => (next++).toString(16).padStart(32, '0');
const newToken = () => (next++).toString(16).padStart(64, '0');

function assignment(callId: string, request: Assignment['request']): Assignment {
  const lease = { callId, generation: 1, token: newToken() };
  // What the wire says that it occupies is not relied on.
  return { ...lease, lane: ['x'], mode: 'shared', pool: 'file', executionMs: 60_000, request };
}

const fields = (worktree?: string) => ({
  protocolVersion: 1 as const,
  workspaceId: 'primary',
  ...(worktree === undefined ? {} : { worktree }),
});
const script = (code: string, worktree: string | undefined = 'a'): Assignment =>
  assignment(newId(), {
    ...fields(worktree === 'checkout' ? undefined : worktree),
    operation: 'run_script',
    code,
    tools: [{ name: 'look-up' }],
  });
const resumption = (callId: string, results: ToolResult[], worktree = 'a'): Assignment =>
  assignment(callId, {
    ...fields(worktree === 'checkout' ? undefined : worktree),
    operation: 'resume_script',
    results,
  });
const command = (text: string, worktree = 'a'): Assignment =>
  assignment(newId(), { ...fields(worktree), operation: 'execute_command', command: text });
const answer = (result: unknown): ToolResult[] => [{ callId: 'call_001', result }];

/** What was settled under the lease of an assignment. */
const settlementsOf = ({ token }: Assignment) =>
  said.flatMap((message) =>
    message.kind === 'settle' && message.lease.token === token ? [message.settlement] : [],
  );

async function settled(call: Assignment): Promise<Settlement | Pause> {
  desk.take(call);
  await expect.poll(() => settlementsOf(call)).toHaveLength(1);
  const [settlement] = settlementsOf(call);
  if (settlement === undefined) throw new Error('It was settled.');
  return settlement;
}

async function paused(code: string, worktree?: string): Promise<Assignment> {
  const call = script(code, worktree);
  expect(await settled(call)).toMatchObject({ status: 'paused' });
  return call;
}

const reports = () => said.flatMap((message) => (message.kind === 'report' ? [message.report] : []));

function initOf({ callId }: Assignment): ProcessIdentity {
  const started = said.find((message) => message.kind === 'started' && message.lease.callId === callId);
  if (started?.kind !== 'started') throw new Error('It has not started.');
  return started.init;
}

const isGone = (call: Assignment): boolean => hostProcesses.isGone(initOf(call));
const inLane = (name: string): string => join(fixture.path('a'), name);

describe('a script that waits for tools', () => {
  it('gives its lane and its lease up, and goes on under the next', async () => {
    const call = script(
      'echo one >>once; x=$(look_up "{\\"q\\":1}"); echo "got $x"; cat other; echo two >>once',
    );
    expect(await settled(call)).toEqual({
      status: 'paused',
      toolCalls: [{ id: 'call_001', name: 'look-up', input: { q: 1 } }],
      stdout: '',
    });
    // The lane and its slot are others' meanwhile, also for the tool that the script has called.
    expect(await settled(command('cat once; echo mine >other'))).toMatchObject({
      result: { stdout: 'one\n' },
    });
    const later = resumption(call.callId, answer('an answer'));
    expect(await settled(later)).toMatchObject({
      status: 'fulfilled',
      result: { operation: 'run_script', exitCode: 0, stdout: 'got an answer\nmine\n', files: [] },
    });
    expect(readFileSync(inLane('once'), 'utf8')).toBe('one\ntwo\n');
    const started = said.filter(
      (message) => message.kind === 'started' && message.lease.callId === call.callId,
    );
    expect(started.map((message) => message.kind === 'started' && message.lease.token)).toEqual([
      call.token,
      later.token,
    ]);
  });

  it('is in the journal as long as it is not over', async () => {
    const call = await paused('look_up');
    expect(root.journal.openEntries()).toMatchObject([{ call: call.callId, process: initOf(call) }]);
    await settled(resumption(call.callId, answer('')));
    await expect.poll(() => root.journal.openEntries()).toEqual([]);
    expect(existsSync(join(scriptsFolder(root), call.callId))).toBe(false);
  });

  it('waits on while its lane is busy, and is offered again', async () => {
    const call = await paused('look_up');
    const busy = command('touch begun; sleep 100');
    desk.take(busy);
    await expect.poll(() => existsSync(inLane('begun'))).toBe(true);
    const early = resumption(call.callId, answer('early'));
    desk.take(early);
    await expect.poll(reports).toContainEqual(expect.objectContaining({ token: early.token, state: 'busy' }));
    desk.stop(busy.callId);
    await expect.poll(() => settlementsOf(busy)).toHaveLength(1);
    expect(await settled(resumption(call.callId, answer('late')))).toMatchObject({
      result: { stdout: 'late\n' },
    });
  });

  it('at the checkout leaves nothing that Git would run, and stays the one whom the journal names', async () => {
    const plant = 'git init -q n && git -C n commit -q --allow-empty -m n && git add n 2>/dev/null';
    const call = await paused(`${plant}; look_up; git status --porcelain n`, 'checkout');
    expect(fixture.host('git ls-files -s')).not.toContain('160000');
    expect(root.journal.openEntries()).toMatchObject([{ call: call.callId, process: initOf(call) }]);
    expect(await settled(resumption(call.callId, answer(''), 'checkout'))).toMatchObject({
      result: { stderr: expect.stringContaining('"n" was taken out of the index') as string },
    });
  });

  it('waits with at most three others: a fifth keeps its lane, and its tool fails', async () => {
    for (let count = 0; count < 4; count += 1) await paused('look_up');
    expect(await settled(script('look_up; echo $?'))).toMatchObject({
      result: { exitCode: 0, stdout: '1\n', stderr: expect.stringContaining('4 scripts') as string },
    });
  });

  it('makes room for another when it goes on', async () => {
    const first = await paused('look_up');
    for (let count = 1; count < 4; count += 1) await paused('look_up');
    await settled(resumption(first.callId, answer('')));
    expect(await settled(script('look_up'))).toMatchObject({ status: 'paused' });
  });
});

describe('a paused script is ended', () => {
  const ended = { status: 'rejected', error: { code: 'ASSIGNMENT_EXPIRED' } };

  it('when it has been woken, by whatever means', async () => {
    const call = await paused('while :; do echo . >>on; done & look_up');
    for (const pid of descendantsOf(initOf(call).pid)) process.kill(pid, 'SIGCONT');
    await expect.poll(reports).toContainEqual({ callId: call.callId, state: 'interrupted' });
    expect(isGone(call)).toBe(true);
  });

  it.each([
    ['was removed', 'git worktree remove --force .worktrees/a'],
    ['was replaced', 'git worktree remove --force .worktrees/a && git worktree add -q .worktrees/a lane/a'],
    ['does not verify', 'echo "gitdir: /elsewhere" > .worktrees/a/.git'],
  ])('when its lane %s meanwhile', async (_what, change) => {
    const call = await paused('look_up; touch went-on');
    fixture.host(change);
    const settlement = await settled(resumption(call.callId, answer('')));
    expect(settlement).toMatchObject(ended);
    expect(JSON.stringify(settlement)).not.toContain(fixture.root);
    expect(isGone(call)).toBe(true);
    expect(existsSync(inLane('went-on'))).toBe(false);
    expect(await settled(resumption(call.callId, answer('')))).toMatchObject(ended);
  });

  it('when it is cancelled; nobody settles it, as it holds no lease', async () => {
    const call = await paused('look_up');
    const before = said.length;
    desk.stop(call.callId);
    await expect.poll(() => isGone(call)).toBe(true);
    expect(said.slice(before)).toEqual([]);
    expect(await settled(resumption(call.callId, answer('')))).toMatchObject(ended);
  });

  it('when nobody has answered it in time, which is reported', async () => {
    desk.stopAll();
    open(100);
    const call = await paused('look_up');
    await expect.poll(reports).toContainEqual({ callId: call.callId, state: 'interrupted' });
    expect(isGone(call)).toBe(true);
  });

  it('with its worker, which says so', async () => {
    const call = await paused('look_up');
    await desk.drain();
    expect(isGone(call)).toBe(true);
    expect(reports()).toContainEqual({ callId: call.callId, state: 'interrupted' });
  });

  it('when its lane is closed', async () => {
    const call = await paused('look_up');
    await root.quarantine.add(['primary', 'worktree:a'], 'Somebody left something.', []);
    const settlement = await settled(resumption(call.callId, answer('')));
    expect(settlement).toMatchObject(ended);
    expect(JSON.stringify(settlement)).toContain('Somebody left something.');
    await expect.poll(() => isGone(call)).toBe(true);
  });

  it('when its bridge has forgotten it and hands it out anew: it is not started twice', async () => {
    const call = await paused('echo once >>once; look_up');
    desk.take({ ...call, token: newToken() });
    await expect.poll(reports).toContainEqual({ callId: call.callId, state: 'interrupted' });
    expect(isGone(call)).toBe(true);
    expect(readFileSync(inLane('once'), 'utf8')).toBe('once\n');
  });

  it('by the next worker, if its own has ended without a word', async () => {
    const call = await paused('look_up; touch went-on');
    const init = initOf(call);
    await root.close();
    await serve();
    await recoverRoot(root, 50_000, log);
    expect(hostProcesses.isGone(init)).toBe(true);
    expect(existsSync(scriptsFolder(root))).toBe(false);
    expect(root.journal.openEntries()).toEqual([]);
    expect(await settled(resumption(call.callId, answer('')))).toMatchObject(ended);
    expect(existsSync(inLane('went-on'))).toBe(false);
  });
});

describe('a script that runs', () => {
  it('is stopped when it is cancelled, also after a pause', async () => {
    const call = await paused('look_up; touch went-on; sleep 100');
    const later = resumption(call.callId, answer(''));
    desk.take(later);
    await expect.poll(() => existsSync(inLane('went-on'))).toBe(true);
    desk.stop(call.callId);
    await expect.poll(() => settlementsOf(later)).toMatchObject([{ error: { code: 'EXECUTION_ABORTED' } }]);
    expect(isGone(call)).toBe(true);
  });

  it('keeps what it said and its exit code when it fails', async () => {
    expect(await settled(script('echo said; exit 9'))).toMatchObject({
      status: 'fulfilled',
      result: { exitCode: 9, stdout: 'said\n', timedOut: false },
    });
  });

  it('does not pause for a worker that is being stopped', async () => {
    const call = script('touch begun; until [ -e go ]; do sleep 0.01; done; look_up; echo $?');
    desk.take(call);
    await expect.poll(() => existsSync(inLane('begun'))).toBe(true);
    const drained = desk.drain();
    fixture.host('touch .worktrees/a/go');
    await drained;
    expect(settlementsOf(call)).toMatchObject([
      { result: { stdout: '1\n', stderr: expect.stringContaining('being stopped') as string } },
    ]);
  });

  it('is refused where there is not what scripts need', async () => {
    programs = undefined;
    open();
    expect(await settled(script('true'))).toMatchObject({ error: { code: 'COMMAND_DISABLED' } });
  });
});
