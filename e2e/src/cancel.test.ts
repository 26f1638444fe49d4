import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCallId } from './rig/caller.js';
import { asAdmin, asCaller, Cli } from './rig/cli.js';
import { Deployment } from './rig/deployment.js';
import { newMarker, untilGone, untilSleeping } from './rig/live-processes.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;

beforeAll(async () => {
  repository = Repository.create('a');
  deployment = await Deployment.start(repository, { worker: { killGraceMs: 100 } });
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

/** A command whose processes ignore what can be ignored. */
const stubborn = (marker: string) =>
  `trap '' TERM HUP INT; (setsid sh -c "trap '' TERM; sleep ${marker}; :" &) ; sleep 1000`;

/** A call that runs in lane `a` until it is stopped. */
async function runningCall() {
  const [marker, callId, leave] = [newMarker(), newCallId(), new AbortController()];
  const answer = deployment
    .caller()
    .call(
      { operation: 'execute_command', command: stubborn(marker), worktree: 'a' },
      { callId, signal: leave.signal },
    );
  answer.catch(() => undefined);
  await untilSleeping(marker);
  await deployment.caller().until(callId, 'running');
  return { marker, callId, answer, leave };
}

/** A call that waits in lane `a`, and would leave a trace if it ever ran. */
async function waitingCall(trace: string) {
  const [callId, leave] = [newCallId(), new AbortController()];
  const answer = deployment
    .caller()
    .call(
      { operation: 'execute_command', command: `touch ${trace}`, worktree: 'a' },
      { callId, signal: leave.signal },
    );
  answer.catch(() => undefined);
  await deployment.caller().until(callId, 'waiting');
  return { callId, answer, leave };
}

const traceOf = async (trace: string) => (await deployment.caller().run(`ls ${trace}`, 'a')).exitCode;

describe('a caller that goes away', () => {
  it('[T63] takes back what waits, which never runs, and has stopped what runs, whole tree', async () => {
    const running = await runningCall();
    const waiting = await waitingCall('gone-away');
    waiting.leave.abort();
    await deployment.caller().until(waiting.callId, 'withdrawn');
    running.leave.abort();
    await untilGone(running.marker);
    await deployment.caller().until(running.callId, 'settled');
    expect(await traceOf('gone-away')).not.toBe(0);
    expect((await deployment.caller().lanes()).running).toEqual([]);
  });

  it('[T63] on the command line does so too: Ctrl-C stops the command and says that it did', async () => {
    const marker = newMarker();
    const words = ['exec', '--worktree', 'a', '--', stubborn(marker)];
    const call = Cli.start(words, { environment: asCaller(deployment) });
    await untilSleeping(marker);
    await deployment.caller().lanesOnce(({ running }) => running.some(({ state }) => state === 'running'));
    const { status, stderr } = await call.end('SIGINT');
    expect(status).toBe(130);
    expect(stderr).toContain('the command was stopped');
    await untilGone(marker);
  });
});

describe('an administrator', () => {
  it('takes back a waiting call, which never runs, and has a running one stopped', async () => {
    const running = await runningCall();
    const waiting = await waitingCall('taken-back');
    expect(await deployment.caller().cancel(waiting.callId)).toMatchObject({ state: 'withdrawn' });
    expect(await waiting.answer).toMatchObject({ status: 409, json: { code: 'CALL_CANCELLED' } });
    expect(await deployment.caller().cancel(running.callId)).toMatchObject({ state: 'cancelling' });
    expect(await running.answer).toMatchObject({ status: 422, json: { code: 'EXECUTION_ABORTED' } });
    await untilGone(running.marker);
    expect(await deployment.caller().cancel(running.callId)).toMatchObject({ state: 'settled' });
    expect(await traceOf('taken-back')).not.toBe(0);
  });

  it('does so from the command line, which shows who waits for whom', async () => {
    const running = await runningCall();
    const waiting = await waitingCall('shown');
    const environment = asAdmin(deployment);
    const shown = await Cli.run(['lanes'], { environment });
    expect(shown.stdout).toMatch(
      new RegExp(`primary/\\.worktrees/a +execute_command +running .*${running.callId}`),
    );
    expect(shown.stdout).toMatch(
      new RegExp(`${waiting.callId} +behind the call .*running in primary/\\.worktrees/a`),
    );
    const json: unknown = JSON.parse((await Cli.run(['lanes', '--json'], { environment })).stdout);
    expect(json).toMatchObject({
      workerId: 'w1',
      running: [{ callId: running.callId, lane: ['primary', 'worktree:a'] }],
      waiting: [{ callId: waiting.callId }],
    });
    const cancel = (id: string) => Cli.run(['cancel', id], { environment });
    expect((await cancel(waiting.callId)).stdout).toContain('was taken out of the queue; it never ran');
    expect((await cancel(running.callId)).stdout).toContain('is being stopped by its worker');
    await untilGone(running.marker);
    expect(await traceOf('shown')).not.toBe(0);
    const unknown = await cancel(newCallId());
    expect(unknown).toMatchObject({ status: 1 });
    expect(unknown.stderr).toContain('CALL_NOT_FOUND');
  });

  it('is needed for both: a caller may neither see the lanes nor cancel', async () => {
    const environment = asCaller(deployment);
    for (const words of [['lanes'], ['cancel', newCallId()]]) {
      const { status, stderr } = await Cli.run(words, { environment });
      expect(status).toBe(1);
      expect(stderr).toContain('FORBIDDEN');
    }
  });
});
