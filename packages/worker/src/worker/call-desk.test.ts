import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Assignment } from '@codelanes/protocol';
import type { ToConnection } from '../connection/messages.js';
import { makeSampleRepository, type SampleRepository } from '../lanes/testing/sample-repository.js';
import { openCheckout } from '../lanes/checkout.js';
import { checkoutLane } from '../sandbox/lane-facts.js';
import { takeSnapshot } from '../sandbox/audit/snapshot.js';
import { CallDesk } from './call-desk.js';
import { takeRoot, type ServedRoot } from './served-root.js';
import { keepSnapshot, keptSnapshot } from './snapshot-file.js';

let repository: SampleRepository;
let root: ServedRoot;
let said: ToConnection[];
let logged: string[];
let desk: CallDesk;

beforeEach(async () => {
  repository = makeSampleRepository('a');
  const request = { id: 'primary', root: repository.root, linkedWorktreeLanes: true, read: [] };
  root = await takeRoot(request, join(repository.folder, 'state'));
  said = [];
  logged = [];
  desk = new CallDesk({
    roots: [root],
    slots: 1,
    connection: { send: (message) => said.push(message) },
    log: pino({ level: 'info' }, { write: (line) => void logged.push(line) }),
    commands: undefined,
    ripgrep: undefined,
  });
});
afterEach(async () => {
  await root.close();
  repository.remove();
});

const lease = { callId: 'a'.repeat(32), generation: 1, token: 'f'.repeat(64) };
const read: Assignment = {
  ...lease,
  lane: ['primary', 'worktree:a'],
  mode: 'shared',
  pool: 'file',
  executionMs: 60_000,
  request: {
    protocolVersion: 1,
    operation: 'read_file',
    workspaceId: 'primary',
    worktree: 'a',
    path: 'missing',
  },
};

it('gives what arrives while it drains back under its lease, so that the call returns to its place', async () => {
  await desk.drain();
  desk.take(read);
  expect(said).toEqual([{ kind: 'report', report: { ...lease, state: 'busy' } }]);
});

it('never starts a call that its journal knows', async () => {
  const process = { pid: 1, startTime: 1, bootId: 'another boot' };
  await root.journal.startCommand({ call: lease.callId, lane: read.lane, process });
  desk.take(read);
  await expect
    .poll(() => said)
    .toEqual([{ kind: 'report', report: { callId: lease.callId, state: 'interrupted' } }]);
});

it('stops a call that it is handed again under another lease, and says so only when nothing of it runs', async () => {
  const write = {
    protocolVersion: 1,
    operation: 'write_file',
    workspaceId: 'primary',
    worktree: 'a',
  } as const;
  const call: Assignment = { ...read, request: { ...write, path: 'one', content: '1' } };
  desk.take(call);
  await expect.poll(() => root.journal.knows(lease.callId)).toBe(true);
  desk.take({ ...call, token: '0'.repeat(64) });
  await expect
    .poll(() => said)
    .toMatchObject([
      { kind: 'settle', lease },
      { kind: 'report', report: { callId: lease.callId, state: 'interrupted' } },
    ]);
});

it('settles a call of a workspace that it does not serve', () => {
  desk.take({ ...read, request: { ...read.request, workspaceId: 'other' } });
  expect(said).toMatchObject([
    { kind: 'settle', lease, settlement: { status: 'rejected', error: { code: 'WORKER_MISMATCH' } } },
  ]);
});

const settled = () => said.flatMap((message) => (message.kind === 'settle' ? [message.settlement] : []));

it('judges a call by its request, whatever the wire says that it occupies', async () => {
  const write = {
    protocolVersion: 1,
    operation: 'write_file',
    workspaceId: 'primary',
    worktree: 'a',
  } as const;
  desk.take({ ...read, lane: ['primary'], pool: 'none', request: { ...write, path: 'one', content: '1' } });
  const other = { ...lease, callId: 'b'.repeat(32) };
  desk.take({ ...read, ...other, pool: 'none', request: { ...write, path: 'two', content: '2' } });
  expect(said).toEqual([{ kind: 'report', report: { ...other, state: 'busy' } }]);
  await desk.drain();
});

it('answers a call whose end cannot be journalled, and gives its lane back', async () => {
  root.journal.end = () => Promise.reject(new Error('The disk is full.'));
  desk.take(read);
  await expect.poll(settled).toMatchObject([{ status: 'rejected', error: { code: 'NOT_FOUND' } }]);
  desk.take({ ...read, callId: 'b'.repeat(32) });
  await expect.poll(settled).toHaveLength(2);
});

it('says that there is room again when a call ends for which another was turned away', async () => {
  const write = {
    protocolVersion: 1,
    operation: 'write_file',
    workspaceId: 'primary',
    worktree: 'a',
  } as const;
  desk.take({ ...read, request: { ...write, path: 'one', content: '1' } });
  desk.take({ ...read, callId: 'b'.repeat(32) });
  await expect.poll(() => said.at(-1)).toEqual({ kind: 'report', report: { state: 'freed' } });
  expect(said.map(({ kind }) => kind)).toEqual(['report', 'settle', 'report']);
});

it('tells a caller why a lane is refused, and not where on this machine it lies', async () => {
  writeFileSync(join(repository.root, '.worktrees/a/.git'), 'gitdir: /elsewhere\n');
  desk.take(read);
  await expect.poll(settled).toHaveLength(1);
  const text = JSON.stringify(settled());
  expect(text).toContain('primary/.git/worktrees');
  expect(text).not.toContain(repository.root);
});

it('leaves the audit that is owed to the calls that hold the checkout', async () => {
  const checkout = openCheckout(repository.root);
  await keepSnapshot(root.stateDir, takeSnapshot(checkoutLane(checkout)));
  checkout.close();
  const instructions = { ...read.request, worktree: undefined, path: 'AGENTS.md' };
  const { pool: _pool, ...rest } = read;
  desk.take({
    ...rest,
    pool: 'none',
    request: { ...instructions, operation: 'read_file', instructionSha256: 'a'.repeat(64) },
  });
  await expect.poll(settled).toHaveLength(1);
  expect(keptSnapshot(root.stateDir)).toBeDefined();
});

it('logs the end of a call with the ids by which its caller and the bridge know it, and says how long it ran', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  desk.take({ ...read, requestId: 'caller-7', traceparent });
  await desk.drain();
  expect(said).toMatchObject([
    { kind: 'settle', settlement: { status: 'rejected', error: { code: 'NOT_FOUND' } } },
  ]);
  const [settled] = said;
  expect(settled?.kind === 'settle' && settled.ranMs).toBeGreaterThan(0);
  expect(logged).toHaveLength(1);
  expect(JSON.parse(logged[0] ?? '')).toMatchObject({
    requestId: 'caller-7',
    traceparent,
    callId: read.callId,
    operation: 'read_file',
    code: 'NOT_FOUND',
  });
  expect(logged[0]).not.toContain('missing');
});
