import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Assignment } from '@codelanes/protocol';
import type { ToConnection } from '../connection/messages.js';
import { makeSampleRepository, type SampleRepository } from '../lanes/testing/sample-repository.js';
import { CallDesk } from './call-desk.js';
import { takeRoot, type ServedRoot } from './served-root.js';

let repository: SampleRepository;
let root: ServedRoot;
let said: ToConnection[];
let desk: CallDesk;

beforeEach(async () => {
  repository = makeSampleRepository('a');
  const request = { id: 'primary', root: repository.root, linkedWorktreeLanes: true, read: [] };
  root = await takeRoot(request, join(repository.folder, 'state'));
  said = [];
  desk = new CallDesk({
    roots: [root],
    slots: 1,
    connection: { send: (message) => said.push(message) },
    log: pino({ level: 'silent' }),
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
  executionMs: 1_000,
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
  expect(said).toEqual([{ kind: 'report', report: { callId: lease.callId, state: 'interrupted' } }]);
});

it('settles a call of a workspace that it does not serve', () => {
  desk.take({ ...read, request: { ...read.request, workspaceId: 'other' } });
  expect(said).toMatchObject([
    { kind: 'settle', lease, settlement: { status: 'rejected', error: { code: 'WORKER_MISMATCH' } } },
  ]);
});
