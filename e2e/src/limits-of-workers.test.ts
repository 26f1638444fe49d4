import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@codelanes/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCallId, type Fields } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a');
  deployment = await Deployment.start(repository, { slots: 1 });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

const inA = (fields: Fields): Fields => ({ worktree: 'a', ...fields });
it('the queue of a worker holds 1,000 waiting calls, and refuses the next one, which may be sent again', async () => {
  const caller = deployment.caller();
  const running = newCallId();
  const blocker = caller.run('while [ ! -e go ]; do sleep 0.05; done', 'a', {
    callId: running,
    more: { timeoutMs: 290_000 },
  });
  await caller.until(running, 'running');
  const leave = new AbortController();
  // One caller alone may fill half of it.
  const waiting = Array.from({ length: limits.queueLength }, (_, index) =>
    deployment
      .caller(index % 2 === 0 ? 'caller' : 'other')
      .call(inA({ operation: 'execute_command', command: 'touch ran-from-queue' }), {
        signal: leave.signal,
        queueWaitMs: 290_000,
      }),
  );
  const left = Promise.allSettled(waiting);
  while ((await caller.lanes()).waiting.length < limits.queueLength) await sleep(50);
  const refusal = await caller.refused(inA({ operation: 'execute_command', command: 'true' }));
  expect(refusal).toMatchObject({ status: 429, code: 'WORKER_QUEUE_FULL' });
  leave.abort();
  await left;
  while ((await caller.lanes()).waiting.length > 0) await sleep(50);
  writeFileSync(repository.path('go', 'a'), '');
  await blocker;
  expect((await caller.run('ls ran-from-queue', 'a')).exitCode).not.toBe(0);
}, 300_000);

describe('a limit of a registration', () => {
  const workspace = { id: 'primary', name: 'n'.repeat(128) };
  const profile = { sandboxProfile: 'p'.repeat(128), runtimes: ['r'.repeat(64)] };
  const registration = (changes: {
    slots?: number;
    capabilities?: object;
    workspaces?: readonly object[];
  }) => ({
    version: 1,
    workerId: 'other',
    incarnationId: newCallId(),
    registrationId: newCallId(),
    journalId: 'a'.repeat(32),
    slots: changes.slots ?? 1,
    holds: [],
    takeOver: false,
    capabilities: {
      ...{ statefulWorkspace: true, sharedReads: true, ...profile, ...changes.capabilities },
      workspaceTools: {
        protocolVersion: 1,
        operations: ['read_file'],
        workspaces: changes.workspaces ?? [workspace],
      },
    },
  });
  const workspaces = (number: number) => Array.from({ length: number }, (_, index) => ({ id: `w${index}` }));

  it.each([
    ['slots', { slots: 1 }, { slots: 0 }],
    ['slots', { slots: 8 }, { slots: 9 }],
    ['sandboxProfile', {}, { capabilities: { sandboxProfile: 'p'.repeat(129) } }],
    ['runtimes', {}, { capabilities: { runtimes: ['r'.repeat(65)] } }],
    [
      'runtimes',
      { capabilities: { runtimes: Array.from({ length: 32 }, () => 'r') } },
      { capabilities: { runtimes: Array.from({ length: 33 }, () => 'r') } },
    ],
    ['workspaces', { workspaces: workspaces(32) }, { workspaces: workspaces(33) }],
    ['name', {}, { workspaces: [{ ...workspace, name: 'n'.repeat(129) }] }],
  ])('holds at its bound, and one past it is refused by name: %s', async (names, at, past) => {
    const register = (changes: Parameters<typeof registration>[0]) =>
      deployment.caller().send('POST', '/v1/workers/other/register', registration(changes), {
        token: deployment.tokens.worker,
      });
    expect((await register(at)).status).toBe(200);
    const refused = await register(past);
    expect(refused).toMatchObject({ status: 400, json: { code: 'MALFORMED_REQUEST' } });
    expect(refused.text).toMatch(new RegExp(`body\\.[a-zA-Z.0-9]*${names}`));
  });
});
