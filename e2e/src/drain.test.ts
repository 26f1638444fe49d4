import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { listQuarantined } from '@codelanes/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallLog, logging, loggingUntil } from './rig/call-log.js';
import { newCallId, type Answer } from './rig/caller.js';
import { Deployment, steadyClocks } from './rig/deployment.js';
import { newMarker, untilGone, untilSleeping } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a', 'b', 'c');
  deployment = await Deployment.start(repository, { slots: 2, ...steadyClocks });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

const fileOf = (lane: string) => repository.path('calls.log', lane);

function command(lane: string, text: string, callId = newCallId()): Promise<Answer> {
  return deployment
    .caller()
    .call({ operation: 'execute_command', command: text, worktree: lane }, { callId });
}

describe('a worker that is asked to stop', () => {
  it('lets what runs end, starts nothing more, and what waited runs once on the next worker', async () => {
    const [runs, waits] = [command('a', loggingUntil('runs', 'go')), newCallId()];
    await CallLog.untilWorking(fileOf('a'), 'runs');
    const waited = command('a', logging('waits', 1), waits);
    await deployment.caller().until(waits, 'waiting');
    const other = command('b', logging('arrives', 1));
    const stopped = deployment.worker?.end('SIGTERM');
    writeFileSync(repository.path('go', 'a'), '');
    await stopped;
    expect(await runs).toMatchObject({ status: 200, json: { exitCode: 0 } });
    expect(CallLog.read(fileOf('a')).call('waits')).toMatchObject({ begins: 0 });
    await deployment.startWorker();
    expect(await waited).toMatchObject({ status: 200, json: { exitCode: 0 } });
    expect(await other).toMatchObject({ status: 200, json: { exitCode: 0 } });
    expect(CallLog.read(fileOf('a')).call('waits')).toMatchObject({ begins: 1, ends: 1 });
    expect(CallLog.read(fileOf('b')).call('arrives')).toMatchObject({ begins: 1, ends: 1 });
    expect(CallLog.read(fileOf('a')).meetings).toEqual([]);
  });

  it('stops what outlasts the grace, with all its processes, and quarantines nothing', async () => {
    await deployment.worker?.end('SIGTERM');
    await deployment.startWorker({ shutdownGraceMs: 200 });
    const marker = newMarker();
    const answer = command('a', `trap '' TERM; setsid sleep ${marker} & sleep 100`);
    await untilSleeping(marker);
    await deployment.worker?.end('SIGTERM');
    expect(await answer).toMatchObject({ status: 422, json: { code: 'EXECUTION_ABORTED' } });
    await untilGone(marker);
    expect(await listQuarantined(deployment.stateDir)).toEqual([]);
    await deployment.startWorker();
    expect(await command('a', 'true')).toMatchObject({ status: 200 });
  });
});

describe('a bridge that is asked to stop', () => {
  it('takes back what waits and lets what runs end', async () => {
    const [runs, waits] = [command('c', loggingUntil('runs', 'go')), newCallId()];
    await CallLog.untilWorking(fileOf('c'), 'runs');
    const waited = command('c', logging('waits', 1), waits);
    await deployment.caller().until(waits, 'waiting');
    const stopped = deployment.bridge?.end('SIGTERM');
    expect(await waited).toMatchObject({ status: 503, json: { code: 'BRIDGE_STOPPING' } });
    writeFileSync(repository.path('go', 'c'), '');
    expect(await runs).toMatchObject({ status: 200, json: { exitCode: 0 } });
    await stopped;
    expect(CallLog.read(fileOf('c')).call('waits')).toMatchObject({ begins: 0 });
    await deployment.startBridge({ drainMs: 200 });
    await untilServed('c');
  });

  it('has what outlasts its drain stopped, and says that the outcome is unknown', async () => {
    const marker = newMarker();
    const answer = command('c', `sleep ${marker}`);
    await untilSleeping(marker);
    await deployment.bridge?.end('SIGTERM');
    expect(await answer).toMatchObject({ status: 504, json: { code: 'ASSIGNMENT_EXPIRED' } });
    await untilGone(marker);
    await deployment.startBridge();
    await untilServed('c');
  });
});

/** A bridge that has just started knows its worker a moment later. */
async function untilServed(lane: string): Promise<void> {
  while ((await command(lane, 'true')).status !== 200) await sleep(20);
}
