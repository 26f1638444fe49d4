import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { NewDurableRequest } from '../../durable-requests.js';
import { ManualClock } from '../../manual-clock.js';
import { RedisStore } from '../../redis-store.js';
import type { Grounds } from '../../stored-call.js';
import { RedisServer } from '../../testing/redis-server.js';
import { WorkerAtStore } from '../../testing/worker-at-store.js';
import { RedisKeys } from '../keys.js';

const prefix = 'grounds';
const outdated = { ok: false, isOutdated: true };

let server: RedisServer;
let store: RedisStore;
let worker: WorkerAtStore;

beforeAll(async () => {
  server = await RedisServer.start();
  store = new RedisStore({ address: { url: server.url }, prefix });
});

afterAll(async () => {
  await store.close();
  await server.stop();
});

beforeEach(async () => {
  await server.ask((client) => client.flushall());
  worker = new WorkerAtStore({ store, clock: new ManualClock() });
  await worker.register();
});

async function grounds(pairing = ''): Promise<Grounds> {
  const seen = await store.worker(worker.workerId);
  if (seen === undefined) throw new Error('the worker has registered');
  return { capabilitiesId: seen.capabilitiesId, pairing };
}

function request(requestId: string, letInBy: Grounds): NewDurableRequest {
  const call = { ...worker.newCall(['primary']), grounds: letInBy };
  return { requestId, fingerprint: 'ab'.repeat(32), queueWaitMs: 30_000, call };
}

it('a durable request is refused as outdated where its worker can do something else by now', async () => {
  const before = await grounds();
  const { capabilities } = (await store.worker(worker.workerId)) ?? {};
  if (capabilities === undefined) throw new Error('the worker has registered');
  await worker.register({ capabilities: { ...capabilities, sharedReads: false } });
  expect(await store.durable.submit(request('request-1', before))).toMatchObject(outdated);
  expect(await store.durable.view('ann', 'request-1')).toBeUndefined();
  expect(await store.durable.submit(request('request-1', await grounds()))).toMatchObject({ ok: true });
});

it('a durable request is refused as outdated where its worker was paired anew meanwhile', async () => {
  const before = await grounds();
  const pairingKey = new RedisKeys(prefix).pairingOf(worker.workerId);
  await server.ask((client) => client.set(pairingKey, 'for others'));
  expect(await store.durable.submit(request('request-1', before))).toMatchObject(outdated);
  const now = await grounds('for others');
  expect(await store.durable.submit(request('request-1', now))).toMatchObject({ ok: true });
});

it('a durable request that was taken in tells how it stands, whatever has changed since', async () => {
  const asked = request('request-1', await grounds());
  await store.durable.submit(asked);
  const pairingKey = new RedisKeys(prefix).pairingOf(worker.workerId);
  await server.ask((client) => client.set(pairingKey, 'for others'));
  expect(await store.durable.submit(asked)).toMatchObject({ view: { callId: asked.call.callId } });
});
