import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallLog, logging, loggingUntil } from './rig/call-log.js';
import { newCallId, type Answer } from './rig/caller.js';
import { asCaller, Cli } from './rig/cli.js';
import { Deployment, steadyClocks } from './rig/deployment.js';
import { newMarker, processesWith, untilGone, untilSleeping } from './rig/live-processes.js';
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
const logOf = (lane: string) => CallLog.read(fileOf(lane));

function exec(lane: string, command: string): Cli {
  return Cli.start(['exec', '--worktree', lane, '--', command], { environment: asCaller(deployment) });
}

/** What an agent's host sends for a command that logs. */
function loggingCall(lane: string, id: string, steps: number): Promise<Answer> {
  return deployment
    .caller()
    .call(
      { operation: 'execute_command', command: logging(id, steps), worktree: lane, timeoutMs: 60_000 },
      { queueWaitMs: 280_000 },
    );
}

/** Whether what a caller was told is what the lane's log says. */
function agrees({ status, text }: Answer, id: string): boolean {
  const { begins, ends } = logOf(id.slice(0, 1)).call(id);
  return status === 200 ? begins === 1 && ends === 1 : text.includes('ASSIGNMENT_EXPIRED') && begins <= 1;
}

describe('a worker that is killed in the middle of a command', () => {
  it('[T70] [T73] leaves nothing that runs, and its next start says what is known and uses the lane at once', async () => {
    const marker = newMarker();
    const call = exec('a', `setsid sleep ${marker} & ${logging('killed', 2_000)}`);
    await CallLog.untilWorking(fileOf('a'), 'killed');
    await untilSleeping(marker);
    await deployment.worker?.end('SIGKILL');
    await untilGone(marker);
    await deployment.startWorker();
    const { status, stderr } = await call.ended;
    expect(status).toBe(123);
    expect(stderr).toContain('The outcome of the call is unknown');
    expect(stderr).toMatch(/look at the lane/i);
    expect((await loggingCall('a', 'next', 1)).status).toBe(200);
    expect(logOf('a').call('killed')).toEqual({ id: 'killed', begins: 1, ends: 0 });
    expect(logOf('a').call('next')).toEqual({ id: 'next', begins: 1, ends: 1 });
    expect(logOf('a').meetings).toEqual([]);
    expect((await deployment.caller().lanes()).running).toEqual([]);
  });

  it('[T70] [T73] ends the call with its lease when no worker comes back, and its lane is free for the next', async () => {
    const marker = newMarker();
    const call = exec('a', `sleep ${marker}`);
    await untilSleeping(marker);
    await deployment.worker?.end('SIGKILL');
    const { status, stderr } = await call.ended;
    expect(processesWith(marker)).toEqual([]);
    expect(status).toBe(123);
    expect(stderr).toContain('lease of this call had ended');
    const lanes = await deployment.caller().lanesOnce((view) => !view.online);
    expect(lanes).toMatchObject({ running: [], slots: { used: 0 }, files: { used: 0 } });
    const refused = await deployment.caller().refused({ operation: 'read_file', path: 'file.txt' });
    expect(refused).toMatchObject({ status: 503, code: 'WORKER_OFFLINE' });
    await deployment.startWorker();
    expect((await loggingCall('a', 'next', 1)).status).toBe(200);
  });

  it('clears the index.lock that a killed Git left in the lane', async () => {
    const metadata = repository.path('.git/worktrees/a');
    const marker = newMarker();
    const call = exec('a', `touch ${metadata}/index.lock; sleep ${marker}`);
    await untilSleeping(marker);
    await deployment.worker?.end('SIGKILL');
    await deployment.startWorker();
    await call.ended;
    const committed = await deployment.caller().run('git commit --allow-empty --quiet -m next', 'a');
    expect(committed).toMatchObject({ exitCode: 0 });
  });

  it('[T74] lets no two calls meet and runs none twice, whatever the moment, ten times over', async () => {
    const outcomes = new Map<string, Promise<Answer>>();
    for (let round = 0; round < 10; round += 1) {
      for (const lane of ['a', 'a', 'b']) {
        const id = `${lane}${outcomes.size}`;
        outcomes.set(id, loggingCall(lane, id, 5));
      }
      // Every moment of a call's life is to be met: arrival, sandbox, journal, run, settlement.
      await sleep(10 + round * 20);
      await deployment.worker?.end('SIGKILL');
      await deployment.startWorker();
    }
    const answers = await Promise.all(
      [...outcomes].map(async ([id, answer]) => ({ id, answer: await answer })),
    );
    for (const lane of ['a', 'b']) expect(logOf(lane).meetings).toEqual([]);
    expect(answers.filter(({ id, answer }) => !agrees(answer, id))).toEqual([]);
    for (const lane of ['a', 'b']) expect((await loggingCall(lane, `${lane}-after`, 1)).status).toBe(200);
  }, 300_000);
});

describe('a worker that sleeps past its lease', () => {
  it('[T71] is fenced when it wakes: its command is killed, and only then the next call starts', async () => {
    const marker = newMarker();
    const call = exec('a', `sleep ${marker} & ${logging('asleep', 5_000)}`);
    await untilSleeping(marker);
    await CallLog.untilWorking(fileOf('a'), 'asleep');
    deployment.worker?.process.kill('SIGSTOP');
    expect(await call.ended).toMatchObject({ status: 123 });
    deployment.worker?.process.kill('SIGCONT');
    await untilGone(marker);
    await deployment.caller().lanesOnce((view) => view.online);
    expect((await loggingCall('a', 'awake', 3)).status).toBe(200);
    expect(logOf('a').meetings).toEqual([]);
    expect(logOf('a').call('asleep')).toMatchObject({ begins: 1, ends: 0 });
  });

  it('[T71] settles a command too late that had ended meanwhile: the word that its caller has stays', async () => {
    const callId = newCallId();
    const caller = deployment.caller();
    const answer = caller.call(
      { operation: 'execute_command', command: loggingUntil('late', 'go'), worktree: 'a' },
      { callId },
    );
    await caller.until(callId, 'running');
    deployment.worker?.process.kill('SIGSTOP');
    writeFileSync(repository.path('go', 'a'), '');
    expect((await answer).json).toMatchObject({ code: 'ASSIGNMENT_EXPIRED' });
    deployment.worker?.process.kill('SIGCONT');
    await deployment.caller().lanesOnce((view) => view.online);
    expect((await loggingCall('a', 'later', 1)).status).toBe(200);
    expect(logOf('a').call('late')).toMatchObject({ begins: 1, ends: 1 });
    expect(logOf('a').meetings).toEqual([]);
    expect((await caller.view(callId)).state).toBe('interrupted');
  });
});

it('[T71] [T76] renews through busy cores and a full thread pool, so that a call of three leases runs once', async () => {
  const busy = Repository.create('a', 'b');
  // One thread for all file work of the worker's, so that a few writers fill it.
  const environment = { ...process.env, UV_THREADPOOL_SIZE: '1' };
  const starved = await Deployment.start(busy, { slots: 2, ...steadyClocks, environment });
  const caller = starved.caller();
  const spin = 'for i in 1 2; do (while :; do :; done) & done';
  const command = `${spin}; ${logging('long', 300)}; sleep 20`;
  const long = caller.call({
    operation: 'execute_command',
    command,
    worktree: 'a',
    timeoutMs: 120_000,
  });
  let isOver = false;
  void long.then(() => (isOver = true));
  const content = 'x'.repeat(64 * 1024);
  const write = async (file: number) => {
    while (!isOver) {
      await caller.succeed({ operation: 'write_file', path: `f${file}`, content, worktree: 'b' });
    }
  };
  await Promise.all([1, 2, 3, 4].map(write));
  expect((await long).json).toMatchObject({ exitCode: 0 });
  const log = CallLog.read(busy.path('calls.log', 'a'));
  expect(log.call('long')).toEqual({ id: 'long', begins: 1, ends: 1 });
  await starved.stop();
  busy.remove();
}, 180_000);
