import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCallId } from './rig/caller.js';
import { Deployment, steadyClocks } from './rig/deployment.js';
import { newMarker, untilGone, untilSleeping } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let elsewhere: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a');
  elsewhere = Repository.create('a');
  deployment = await Deployment.start(repository, steadyClocks);
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
  elsewhere.remove();
});

/** What a second worker is told; the first one goes on. */
async function refusalOf(more: Parameters<Deployment['startWorker']>[0]): Promise<string> {
  const first = deployment.worker;
  const refusal = await deployment.startWorker(more).then(
    () => 'it started',
    (error: unknown) => String(error),
  );
  deployment.worker = first;
  expect(await deployment.caller().run('true', 'a')).toMatchObject({ exitCode: 0 });
  return refusal;
}

describe('a second worker', () => {
  it('on the same folder is refused and told the pid of the first', async () => {
    const refusal = await refusalOf({ workerId: 'w2' });
    expect(refusal).toContain(`Another worker (pid ${deployment.worker?.pid ?? 0}) serves`);
    expect(refusal).toContain('stop it first');
  });

  it('on the same folder by another path is refused just so', async () => {
    const link = join(repository.folder, 'link');
    symlinkSync(repository.root, link);
    const refusal = await refusalOf({ workerId: 'w2', roots: [{ id: 'other', root: link }] });
    expect(refusal).toContain(`Another worker (pid ${deployment.worker?.pid ?? 0}) serves`);
  });

  it('on the same folder is refused whatever state folder it keeps', async () => {
    const stateDir = join(elsewhere.folder, 'other-state');
    expect(await refusalOf({ workerId: 'w2', stateDir })).toContain('Another worker');
  });

  const other = () => ({
    roots: [{ id: 'primary', root: elsewhere.root, linkedWorktreeLanes: true }],
    stateDir: join(elsewhere.folder, 'state'),
  });

  it('with the same identity and a journal of its own is fenced while the first lives', async () => {
    expect(await refusalOf(other())).toContain('already runs elsewhere');
  });

  it('takes that identity over when its operator says so, which is logged; the first one ends what it runs', async () => {
    const first = deployment.worker;
    const [marker, callId] = [newMarker(), newCallId()];
    const answer = deployment
      .caller()
      .call({ operation: 'execute_command', command: `sleep ${marker}`, worktree: 'a' }, { callId });
    await untilSleeping(marker);
    await deployment.startWorker({ ...other(), takeOver: true });
    expect(await answer).toMatchObject({ status: 504, json: { code: 'ASSIGNMENT_EXPIRED' } });
    await untilGone(marker);
    await first?.exited;
    expect(deployment.bridge?.log).toContain('took this identity over');
    const seen = await deployment.caller().run('pwd', 'a');
    expect(seen.stdout.trim()).toBe(elsewhere.path('', 'a').replace(/\/$/, ''));
  });
});
