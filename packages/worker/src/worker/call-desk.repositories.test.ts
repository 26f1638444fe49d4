import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Assignment } from '@codelanes/protocol';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToConnection } from '../connection/messages.js';
import { RootError } from '../environment/roots.js';
import { identityOf } from '../files/directory.js';
import { makeSampleRepository, type SampleRepository } from '../lanes/testing/sample-repository.js';
import { CallDesk } from './call-desk.js';
import { takeRoot, type ServedRoot } from './served-root.js';

let stateDir: string;
let repository: SampleRepository;
let root: ServedRoot;
let said: ToConnection[];
let desk: CallDesk;

const identityAt = (path: string) => identityOf(statSync(path, { bigint: true }));

/** The folder around the sample repository, which is no checkout, as a root in which it is declared. */
const requestFor = (
  { folder, root: checkout }: SampleRepository,
  gitIdentity = identityAt(`${checkout}/.git`),
) => ({
  id: 'primary',
  root: folder,
  linkedWorktreeLanes: true,
  read: [],
  repositories: [
    {
      path: 'repository',
      workspaceId: 'primary:repository',
      checkout,
      identity: identityAt(checkout),
      gitIdentity,
      slots: 1,
    },
  ],
});

beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'codelanes-desk-'));
  repository = makeSampleRepository('a', 'b');
  root = await takeRoot(requestFor(repository), stateDir);
  said = [];
  desk = new CallDesk({
    roots: [root],
    slots: 4,
    connection: { send: (message) => said.push(message) },
    log: pino({ level: 'silent' }),
    commands: undefined,
    ripgrep: undefined,
  });
});
afterEach(async () => {
  await desk.drain();
  await root.close();
  repository.remove();
  rmSync(stateDir, { recursive: true });
});

const token = 'f'.repeat(64);
const command = (callId: string, fields: object): Assignment => ({
  callId: callId.repeat(32),
  generation: 1,
  token,
  // What the wire says of it is not relied on.
  lane: ['elsewhere'],
  mode: 'shared',
  pool: 'file',
  executionMs: 60_000,
  request: {
    protocolVersion: 1,
    operation: 'execute_command',
    workspaceId: 'primary',
    command: 'true',
    ...fields,
  },
});
const reports = () => said.flatMap((message) => (message.kind === 'report' ? [message.report] : []));
const busy = (callId: string) => ({ callId: callId.repeat(32), generation: 1, token, state: 'busy' });

describe('a worker with a repository beneath its root', () => {
  it('[M2] holds no more commands in the repository than its slots, whatever the bridge hands out', () => {
    desk.take(command('a', { repository: 'repository', worktree: 'a' }));
    desk.take(command('b', { repository: 'repository', worktree: 'b' }));
    expect(reports()).toEqual([busy('b')]);
  });

  it('[M6] takes the workspace that is its other name for the same lane', () => {
    const file = { operation: 'write_file', path: 'f', content: '' } as const;
    const write = (callId: string, fields: object): Assignment => ({
      ...command(callId, {}),
      request: { protocolVersion: 1, workspaceId: 'primary', ...file, ...fields },
    });
    desk.take(write('a', { repository: 'repository', worktree: 'a' }));
    desk.take(write('b', { workspaceId: 'primary:repository', worktree: 'a' }));
    desk.take(write('c', { workspaceId: 'primary:repository', worktree: 'b' }));
    desk.take(write('d', {}));
    expect(reports()).toEqual([busy('b'), busy('d')]);
  });

  it('refuses what it does not offer, itself', () => {
    desk.take(command('a', { repository: 'other' }));
    desk.take(command('b', { workspaceId: 'primary:repository', repository: 'repository' }));
    desk.take(command('c', { worktree: 'a' }));
    const codes = said.map((message) =>
      message.kind === 'settle' && message.settlement.status === 'rejected'
        ? message.settlement.error.code
        : message.kind,
    );
    expect(codes).toEqual(['WORKER_MISMATCH', 'WORKER_MISMATCH', 'WORKER_MISMATCH']);
  });

  it('is not served where a checkout is not the one that the definition found', async () => {
    const other = makeSampleRepository();
    try {
      const request = requestFor(other, identityAt(other.root));
      await expect(takeRoot(request, stateDir)).rejects.toThrow(RootError);
    } finally {
      other.remove();
    }
  });
});
