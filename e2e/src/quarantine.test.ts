import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newCallId } from './rig/caller.js';
import { asAdmin, Cli } from './rig/cli.js';
import { Deployment, steadyClocks } from './rig/deployment.js';
import { HeldSandbox } from './rig/held-sandbox.js';
import { newMarker, untilSleeping } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;
let held: HeldSandbox | undefined;

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  deployment = await Deployment.start(repository, {
    slots: 2,
    ...steadyClocks,
    // As long as it takes until a process that will not go is taken for that.
    worker: { ...steadyClocks.worker, goneWithinMs: 6_000 },
  });
});
afterEach(async () => {
  await held?.free();
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

const run = (lane?: string) => ({
  operation: 'execute_command',
  command: 'true',
  ...(lane === undefined ? {} : { worktree: lane }),
});

function codelanes(...words: readonly string[]) {
  return Cli.run([...words, '--state', deployment.stateDir], { environment: asAdmin(deployment) });
}

/** A command in lane `a` whose sandbox will not go, however often it is killed. */
async function unkillableCommand(): Promise<{ callId: string; answer: Promise<{ code: string }> }> {
  const [marker, callId] = [newMarker(), newCallId()];
  const answer = deployment
    .caller()
    .refused({ operation: 'execute_command', command: `sleep ${marker}`, worktree: 'a' }, { callId });
  held = await HeldSandbox.hold(await untilSleeping(marker));
  await deployment.caller().until(callId, 'running');
  return { callId, answer };
}

async function quarantineA(): Promise<void> {
  const { callId, answer } = await unkillableCommand();
  await deployment.caller().cancel(callId);
  expect(await answer).toMatchObject({ code: 'EXECUTION_ABORTED' });
  expect((await deployment.caller().refused(run('a'))).code).toBe('WORKSPACE_QUARANTINED');
}

async function untilUsable(lane?: string): Promise<void> {
  while ((await deployment.caller().call(run(lane))).status !== 200) await sleep(20);
}

describe('[L18] a lane whose processes cannot be shown to be gone', () => {
  it('is closed, and the checkout with it, its siblings go on, and it heals when they are gone', async () => {
    await quarantineA();
    const caller = deployment.caller();
    const lock = repository.path('.git/worktrees/a/index.lock');
    writeFileSync(lock, '');
    const refusal = await caller.refused(run('a'));
    expect(refusal).toMatchObject({ status: 409, code: 'WORKSPACE_QUARANTINED' });
    expect(refusal.error).toMatch(/lane primary\/\.worktrees\/a is closed.*could not be shown to be gone/);
    expect((await caller.refused(run())).code).toBe('WORKSPACE_QUARANTINED');
    const write = { operation: 'write_file', path: 'f', content: '', worktree: 'a' };
    expect((await caller.refused(write)).code).toBe('WORKSPACE_QUARANTINED');
    expect(await caller.run('true', 'b')).toMatchObject({ exitCode: 0 });
    await held?.free();
    await untilUsable('a');
    await untilUsable();
    expect(existsSync(lock)).toBe(false);
  });

  it('stays closed over restarts of its worker, is shown to people, and is given back by hand while it runs', async () => {
    await quarantineA();
    await deployment.worker?.end('SIGTERM');
    await deployment.startWorker();
    expect((await deployment.caller().refused(run('a'))).code).toBe('WORKSPACE_QUARANTINED');
    const shown = await codelanes('lanes');
    expect(shown.stdout).toMatch(/Quarantined for .*: primary\/\.worktrees\/a\./);
    expect(shown.stdout).toContain('codelanes lanes release primary/.worktrees/a');
    const json: unknown = JSON.parse((await codelanes('lanes', '--json')).stdout);
    expect(json).toMatchObject({ quarantined: [{ lane: ['primary', 'worktree:a'] }] });
    const released = await codelanes('lanes', 'release', 'primary/.worktrees/a');
    expect(released).toMatchObject({ status: 0 });
    await untilUsable('a');
    await untilUsable();
    expect(deployment.worker?.log).toContain('released by the operator');
  });

  it('is closed by a worker that finds it after the last one was killed, and given back by hand while none runs', async () => {
    const { answer } = await unkillableCommand();
    await deployment.worker?.end('SIGKILL');
    await deployment.startWorker();
    expect(await answer).toMatchObject({ code: 'ASSIGNMENT_EXPIRED' });
    expect((await deployment.caller().refused(run('a'))).code).toBe('WORKSPACE_QUARANTINED');
    expect(await deployment.caller().run('true', 'b')).toMatchObject({ exitCode: 0 });
    await deployment.worker?.end('SIGTERM');
    expect(await codelanes('lanes', 'release', 'primary/.worktrees/a')).toMatchObject({ status: 0 });
    await deployment.startWorker();
    await untilUsable('a');
    expect((await codelanes('lanes')).stdout).not.toContain('Quarantined');
  });

  it('cannot be released by a name that is none, or in a state folder that is not there', async () => {
    const noLane = await codelanes('lanes', 'release', 'primary/../a');
    expect(noLane.status).toBe(1);
    expect(noLane.stderr).toContain('names no lane');
    const noState = await Cli.run([
      'lanes',
      'release',
      'primary',
      '--state',
      `${deployment.stateDir}-missing`,
    ]);
    expect(noState.status).toBe(1);
    expect(noState.stderr).toContain('No worker of this machine uses the state folder');
  });
});
