import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pollStreamType } from '@codelanes/protocol';
import { commandBody, commandIn, execute } from '../server/testing/requests.js';
import { TestBridge } from '../server/testing/test-bridge.js';
import { TestWorker } from '../server/testing/test-worker.js';

let bridge: TestBridge;
let worker: TestWorker;

beforeEach(async () => {
  bridge = await TestBridge.start();
  worker = await TestWorker.registered(bridge);
});

afterEach(async () => {
  await bridge.close();
});

function pollOf({ registrationId }: TestWorker) {
  return { registrationId, waitMs: 0 };
}

it('answers a poll without patience at once, with nothing', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    expect(await worker.poll(0)).toMatchObject({ heldMs: 0, assignments: [], cancellations: [] });
  } finally {
    vi.useRealTimers();
  }
});

it('answers an open poll as soon as there is a call', async () => {
  const poll = worker.poll(25_000);
  const answer = execute(bridge, commandBody());
  const { assignments } = await poll;
  expect(assignments).toHaveLength(1);
  for (const assignment of assignments) await worker.settleCommand(assignment);
  expect((await answer).status).toBe(200);
});

it('hands over in one reply all that can start', async () => {
  const answers = [execute(bridge, commandIn('a')), execute(bridge, commandIn('b'))];
  await expect
    .poll(
      async () => (await bridge.send('/v1/bridge/workers/worker-1/lanes', { as: 'admin' })).json['running'],
    )
    .toHaveLength(2);
  const { assignments } = await worker.poll();
  expect(assignments).toHaveLength(2);
  for (const assignment of assignments) await worker.settleCommand(assignment);
  await Promise.all(answers);
});

it('brings one batch after the other on one reply where the poll asks for a stream', async () => {
  const batches = worker.batches(25_000);
  for (const stdout of ['first', 'second']) {
    const batch = batches.next();
    const answer = execute(bridge, commandBody());
    const [assignment] = (await batch).value?.assignments ?? [];
    if (assignment === undefined) throw new Error('The stream has ended.');
    await worker.settleCommand(assignment, stdout);
    expect((await answer).json['stdout']).toBe(stdout);
  }
  const last = batches.next();
  await worker.poll(0);
  expect((await last).value).toMatchObject({ assignments: [], cancellations: [] });
  expect(await batches.next()).toEqual({ done: true, value: undefined });
});

it('tells on a stream for which lane a command begins to wait, and not on a mere poll', async () => {
  const batches = worker.batches(25_000);
  const begun = batches.next();
  const first = execute(bridge, commandIn('a'));
  const [running] = (await begun).value?.assignments ?? [];
  const hint = batches.next();
  const second = execute(bridge, commandIn('a'));
  expect((await hint).value).toMatchObject({ assignments: [], expected: [running?.lane] });
  const poll = worker.poll(25_000);
  expect((await batches.next()).value).toMatchObject({ assignments: [] });
  const third = execute(bridge, commandIn('a'));
  if (running === undefined) throw new Error('Nothing runs.');
  await worker.settleCommand(running);
  const { assignments, expected } = await poll;
  expect(expected).toBeUndefined();
  for (const assignment of assignments) await worker.settleCommand(assignment);
  await worker.settleCommand(await worker.next());
  await Promise.all([first, second, third]);
});

it('ends a stream when its wait is over, with an empty batch', async () => {
  const said: unknown[] = [];
  for await (const { assignments } of worker.batches(1)) said.push(assignments);
  expect(said).toEqual([[]]);
});

it('refuses a stream as it does any poll, and lets it go when the bridge stops', async () => {
  const stranger = new TestWorker(bridge, 'stranger');
  const refused = await stranger.post('poll', { ...pollOf(stranger), stream: true });
  expect(refused).toMatchObject({ status: 404, json: { code: 'WORKER_NOT_FOUND' } });
  const open = worker.batches(25_000).next();
  await opened();
  await bridge.close();
  expect((await open).value).toMatchObject({ assignments: [] });
});

it('answers an older poll of the same incarnation empty when a newer one comes', async () => {
  const older = worker.poll(25_000);
  await opened();
  const newer = worker.poll(25_000);
  expect((await older).assignments).toEqual([]);
  const answer = execute(bridge, commandBody());
  const { assignments } = await newer;
  expect(assignments).toHaveLength(1);
  for (const assignment of assignments) await worker.settleCommand(assignment);
  await answer;
});

it('fetches nothing for a poll whose connection is gone: the next poll gets the call', async () => {
  const stop = new AbortController();
  const gone = worker.post('poll', { ...pollOf(worker), waitMs: 25_000 }, stop.signal);
  await opened();
  stop.abort();
  await expect(gone).rejects.toThrow();
  const answer = execute(bridge, commandBody());
  await worker.settleCommand(await worker.next());
  expect((await answer).status).toBe(200);
});

it('refuses an incarnation that another one has replaced, and lets the newer one poll', async () => {
  const journalId = 'a'.repeat(32);
  await worker.register({ journalId, takeOver: true });
  const successor = await TestWorker.registered(bridge, { journalId });
  const refused = await worker.post('poll', pollOf(worker));
  expect(refused).toMatchObject({ status: 409, json: { code: 'WORKER_FENCED' } });
  expect(await successor.poll(0)).toMatchObject({ assignments: [] });
});

it('refuses a worker that has not registered', async () => {
  const stranger = new TestWorker(bridge, 'stranger');
  const refused = await stranger.post('poll', pollOf(stranger));
  expect(refused).toMatchObject({ status: 404, json: { code: 'WORKER_NOT_FOUND' } });
});

/** Gives a request that was just sent the time of another one to arrive. */
async function opened(): Promise<void> {
  for (let look = 0; look < 5; look += 1) await bridge.send('/healthz');
}

it('asks proxies to pass each line of a stream on as it comes', async () => {
  const stream = await worker.post('poll', { ...pollOf(worker), waitMs: 1, stream: true });
  expect(stream.headers).toMatchObject({ 'content-type': pollStreamType, 'x-accel-buffering': 'no' });
  const { headers } = await worker.post('poll', pollOf(worker));
  expect(headers).not.toHaveProperty('x-accel-buffering');
});

it('answers the caller before the worker that settles its call', async () => {
  const heard: string[] = [];
  const note = (who: string) => () => void heard.push(who);
  for (let turn = 0; turn < 10; turn += 1) {
    const answer = execute(bridge, commandBody()).then(note('caller'));
    const assignment = await worker.next();
    await Promise.all([worker.settleCommand(assignment).then(note('worker')), answer]);
  }
  expect(heard).toEqual(Array.from({ length: 10 }, () => ['caller', 'worker']).flat());
});
