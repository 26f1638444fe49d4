import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallLog, logging } from './rig/call-log.js';
import { asCaller, Cli } from './rig/cli.js';
import { Deployment, steadyClocks } from './rig/deployment.js';
import { newMarker, untilGone, untilSleeping } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  deployment = await Deployment.start(repository, { slots: 2, ...steadyClocks });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

const fileOf = (lane: string) => repository.path('calls.log', lane);

function exec(lane: string, command: string, ...flags: readonly string[]): Cli {
  const words = ['exec', ...flags, '--worktree', lane, '--', command];
  return Cli.start(words, { environment: asCaller(deployment) });
}

/** A worker tells a start a little later; who watches the call is told as soon as the bridge knows. */
async function untilToldRunning(): Promise<void> {
  const caller = deployment.caller();
  await expect.poll(async () => (await caller.lanes()).running).toMatchObject([{ state: 'running' }]);
}

describe('a bridge that is killed in the middle of a command', () => {
  it('and is back at once has the command stopped, as nobody waits for it, before the lane is used again', async () => {
    const marker = newMarker();
    const call = exec('a', `setsid sleep ${marker} & ${logging('orphan', 5_000)}`);
    await CallLog.untilWorking(fileOf('a'), 'orphan');
    await untilSleeping(marker);
    await untilToldRunning();
    await deployment.bridge?.end('SIGKILL');
    const { status, stderr } = await call.ended;
    expect(status).toBe(123);
    expect(stderr).toContain('The command was running');
    expect(stderr).toContain('The outcome is unknown.');
    expect(stderr).toContain('It is not run again by itself');
    await deployment.startBridge();
    await deployment.untilServed();
    const next = await exec('a', logging('next', 1)).ended;
    expect(next).toMatchObject({ status: 0 });
    await untilGone(marker);
    const log = CallLog.read(fileOf('a'));
    expect(log.call('orphan')).toMatchObject({ begins: 1, ends: 0 });
    expect(log.call('next')).toMatchObject({ begins: 1, ends: 1 });
    expect(log.meetings).toEqual([]);
    expect((await deployment.caller().lanes()).running).toEqual([]);
  });

  it('does not run what waited there: the command line says that it was waiting, and nothing of it ever begins', async () => {
    const running = exec('b', logging('runs', 5_000));
    await CallLog.untilWorking(fileOf('b'), 'runs');
    const waits = exec('b', logging('waits', 1));
    await waits.said('waits behind');
    await deployment.bridge?.end('SIGKILL');
    const [{ status }, waited] = await Promise.all([running.ended, waits.ended]);
    expect([status, waited.status]).toEqual([123, 123]);
    expect(waited.stderr).toContain('most likely never started');
    await deployment.startBridge();
    await deployment.untilServed();
    expect(await exec('b', logging('later', 1)).ended).toMatchObject({ status: 0 });
    const log = CallLog.read(fileOf('b'));
    expect(log.call('waits')).toMatchObject({ begins: 0 });
    expect(log.meetings).toEqual([]);
  });

  it('[T70] and never comes back has the command killed by the end of its lease', async () => {
    const marker = newMarker();
    const call = exec('a', `setsid sleep ${marker} & ${logging('abandoned', 5_000)}`);
    await CallLog.untilWorking(fileOf('a'), 'abandoned');
    await untilSleeping(marker);
    await deployment.bridge?.end('SIGKILL');
    expect(await call.ended).toMatchObject({ status: 123 });
    await untilGone(marker);
    expect(CallLog.read(fileOf('a')).call('abandoned')).toMatchObject({ begins: 1, ends: 0 });
    const unreachable = await exec('a', 'true', '--queue-wait', '0.1').ended;
    expect(unreachable.status).toBe(125);
    expect(unreachable.stderr).toContain('Nothing ran');
    await deployment.startBridge();
    await deployment.untilServed();
    expect(await exec('a', logging('afterwards', 1)).ended).toMatchObject({ status: 0 });
    expect(CallLog.read(fileOf('a')).meetings).toEqual([]);
  });
});
