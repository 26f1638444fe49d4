import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bridge, BridgeOptions } from '@codelanes/bridge';
import { startBridge } from '@codelanes/bridge';
import type { CallView } from '@codelanes/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { requestOf } from '../exec/request-of.js';
import { BridgeClient } from './bridge-client.js';
import type { CallListener } from './run-call.js';
import { LostCall, runCall } from './run-call.js';
import { HandWorker, workspaceId } from './testing/hand-worker.js';

const tokens = { caller: 'c'.repeat(32), admin: 'a'.repeat(32), worker: 'w'.repeat(32) };
const workerId = 'hand';
const patienceMs = 50_000;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function bridgeAt(port: number, options: Partial<BridgeOptions> = {}): Promise<Bridge> {
  const bridge = await startBridge({
    port,
    tokens: { callers: [tokens.caller], admin: tokens.admin, worker: tokens.worker },
    logLevel: 'silent',
    drainMs: 0,
    ...options,
  });
  closing.push(() => bridge.close());
  return bridge;
}

function clientOf(url: string): BridgeClient {
  const client = new BridgeClient({ url, token: tokens.caller });
  closing.push(() => client.close());
  return client;
}

async function registered(url: string): Promise<HandWorker> {
  const worker = new HandWorker(url, tokens.worker, workerId);
  await worker.register();
  return worker;
}

function run(client: BridgeClient, word: string, listener: CallListener = {}, attemptMs = patienceMs) {
  const request = requestOf(workspaceId, ['echo', word], { worktree: 'a' });
  return runCall(
    client,
    { workerId, request, patienceMs, attemptMs, comebackMs: patienceMs },
    listener,
    AbortSignal.timeout(patienceMs * 2),
  );
}

describe('runCall', () => {
  it('brings the result, and tells the states of the call on its way', async () => {
    const { url } = await bridgeAt(0);
    const worker = await registered(url);
    const states: string[] = [];
    const ended = run(clientOf(url), 'one', { onView: ({ state }) => states.push(state) });
    const assignment = await worker.start();
    await expect.poll(() => states).toContain('running');
    await worker.settle(assignment, 'one');
    expect(await ended).toMatchObject({ exitCode: 0, stdout: 'one' });
  });

  it('asks again after a queue time-out, with the same body and another id, and keeps its place', async () => {
    const { url } = await bridgeAt(0, { scheduler: { placeKeptMs: 60_000 } });
    const worker = await registered(url);
    const client = clientOf(url);
    const ids: string[] = [];
    const reasons: (string | undefined)[] = [];
    const before = run(client, 'before');
    const running = await worker.start();
    const patient = run(
      client,
      'patient',
      {
        onAttempt: (id) => ids.push(id),
        onRetry: ({ waitedFor }) => reasons.push(waitedFor?.blockers[0]?.lane.join()),
      },
      100,
    );
    await expect.poll(() => reasons.length).toBeGreaterThan(0);
    const younger = run(client, 'younger');
    await expect.poll(() => ids.length).toBeGreaterThan(3);
    await worker.settle(running, 'before');
    const next = await worker.start();
    expect(next.request).toMatchObject({ command: 'echo patient' });
    expect(next.callId).toBe(ids.at(-1));
    expect(new Set(ids).size).toBe(ids.length);
    expect(reasons[0]).toBe('app,worktree:a');
    await worker.settle(next, 'patient');
    await worker.settle(await worker.start(), 'younger');
    expect((await Promise.all([before, patient, younger])).map(({ stdout }) => stdout)).toEqual([
      'before',
      'patient',
      'younger',
    ]);
  });

  it('ends with the queue time-out when the patience does', async () => {
    const { url } = await bridgeAt(0);
    const worker = await registered(url);
    const client = clientOf(url);
    const before = run(client, 'before');
    const running = await worker.start();
    const request = requestOf(workspaceId, ['true'], {});
    const impatient = runCall(
      client,
      { workerId, request, patienceMs: 100 },
      {},
      AbortSignal.timeout(patienceMs),
    );
    await expect(impatient).rejects.toMatchObject({ code: 'WORKSPACE_QUEUE_TIMEOUT' });
    await worker.settle(running, 'before');
    await before;
  });

  it('waits a little for a bridge and a worker that are being started', async () => {
    const { port, url, ...bridge } = await bridgeAt(0);
    await bridge.close();
    const told: string[] = [];
    const ended = run(clientOf(url), 'one', { onUnavailable: ({ message }) => told.push(message) });
    await expect.poll(() => told.length).toBe(1);
    await bridgeAt(port);
    const worker = await registered(url);
    await worker.settle(await worker.start(), 'one');
    expect((await ended).stdout).toBe('one');
    expect(told).toHaveLength(1);
  });

  it('never asks again when a bridge went away after the call reached it, and keeps what was last seen', async () => {
    const view = { callId: '0'.repeat(32), state: 'running', lane: ['app'], sinceMs: 1, revision: 1 };
    let posts = 0;
    let isWatchedOn = false;
    const server = createServer((request, reply) => {
      if (request.method === 'POST') posts += 1;
      else if (request.url?.includes('after') === true) isWatchedOn = true;
      else reply.end(JSON.stringify(view));
      // It dies once the call has reached it and its state has been seen.
      if (posts > 0 && isWatchedOn) server.closeAllConnections();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(
      () =>
        new Promise((resolve) => {
          server.close(resolve);
        }),
    );
    const { port } = server.address() as AddressInfo;
    const lost = await run(clientOf(`http://127.0.0.1:${port}`), 'one').catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(LostCall);
    expect(lost).toMatchObject({ lastSeen: { state: 'running' } });
    expect(posts).toBe(1);
  });

  it('takes a waiting call out of the queue when it is aborted', async () => {
    const { url } = await bridgeAt(0);
    const worker = await registered(url);
    const client = clientOf(url);
    const before = run(client, 'before');
    const running = await worker.start();
    const abort = new AbortController();
    let callId = '';
    const listener = { onAttempt: (id: string) => (callId = id) };
    const request = requestOf(workspaceId, ['true'], { worktree: 'a' });
    const given = runCall(client, { workerId, request, patienceMs }, listener, abort.signal);
    await expect.poll(() => client.call(callId).then(({ state }) => state)).toBe('waiting');
    abort.abort();
    await expect(given).rejects.toThrow();
    await expect.poll(() => client.call(callId).then(({ state }) => state)).toBe('withdrawn');
    await worker.settle(running, 'before');
    await before;
  });
});

it('waits as long as the bridge says before it sends a call again that came too soon', async () => {
  const { url } = await bridgeAt(0, { rateLimit: { calls: 1, windowMs: 6_000 } });
  const worker = await registered(url);
  const client = clientOf(url);
  const first = run(client, 'one');
  await worker.settle(await worker.start(), 'one');
  await first;
  const refusals: string[] = [];
  const second = run(client, 'two', { onRetry: ({ code }) => refusals.push(code) });
  await worker.settle(await worker.start(), 'two');
  expect((await second).stdout).toBe('two');
  expect(refusals).toEqual(['RATE_LIMITED']);
});

it('tells why a call waits each time that something else stands in its way', async () => {
  const { url } = await bridgeAt(0);
  const worker = await registered(url);
  const client = clientOf(url);
  const running = run(client, 'one');
  const first = await worker.start();
  const told: number[] = [];
  const call = { workerId, request: requestOf(workspaceId, ['echo', 'two'], {}), patienceMs };
  const onView = ({ waiting }: CallView) => {
    if (waiting !== undefined) told.push(waiting.blockers.length);
  };
  const inB = runCall(
    client,
    { ...call, request: requestOf(workspaceId, ['echo', 'b'], { worktree: 'b' }) },
    {},
    AbortSignal.timeout(patienceMs),
  );
  const second = await worker.start();
  const checkout = runCall(client, call, { onView }, AbortSignal.timeout(patienceMs));
  await expect.poll(() => told).toEqual([2]);
  await worker.settle(first, 'one');
  await expect.poll(() => told).toEqual([2, 1]);
  await worker.settle(second, 'b');
  await worker.settle(await worker.start(), 'two');
  await Promise.all([running, inB, checkout]);
});
