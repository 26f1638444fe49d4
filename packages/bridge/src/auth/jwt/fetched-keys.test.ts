import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FetchedKeys } from './fetched-keys.js';
import { ed25519Pair, jwkOf } from './testing/minted.js';

let server: Server;
let url: string;
let asked: number;
let answer: { status: number; headers?: Record<string, string>; body: string };

beforeEach(async () => {
  asked = 0;
  server = createServer((_request, response) => {
    asked += 1;
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/jwks`;
});

afterEach(() => {
  server.close();
});

function keysOf(...ids: string[]): string {
  return JSON.stringify({ keys: ids.map((kid) => jwkOf(ed25519Pair(), { kid })) });
}

function source() {
  const clock = { ms: 1_000_000, faults: [] as string[] };
  const keys = new FetchedKeys(url, {
    onFault: (error) => clock.faults.push(error.message),
    now: () => clock.ms,
  });
  return { clock, keys };
}

it('asks once for what it knows, again for an id that it does not know, and never more often than each ten seconds', async () => {
  const { keys, clock } = source();
  answer = { status: 200, body: keysOf('k1') };
  expect(await keys.find('k1')).toMatchObject({ keyId: 'k1' });
  expect(await keys.find('k1')).toBeDefined();
  expect(asked).toBe(1);
  answer = { status: 200, body: keysOf('k1', 'k2') };
  for (let tries = 0; tries < 50; tries += 1) expect(await keys.find(`unknown-${tries}`)).toBeUndefined();
  expect(asked).toBe(1);
  clock.ms += 10_001;
  expect(await keys.find('k2')).toMatchObject({ keyId: 'k2' });
  expect(asked).toBe(2);
});

it('counts as changed only where other keys have come', async () => {
  const { keys, clock } = source();
  answer = { status: 200, body: keysOf('k1') };
  await keys.find('k1');
  const { version } = keys;
  clock.ms += 10_001;
  await keys.refresh();
  expect([asked, keys.version]).toEqual([2, version]);
  answer = { status: 200, body: keysOf('k2') };
  clock.ms += 10_001;
  await keys.refresh();
  expect(keys.version).not.toBe(version);
});

it('takes a key that was withdrawn no more once it has asked again', async () => {
  const { keys, clock } = source();
  answer = { status: 200, body: keysOf('k1') };
  await keys.find('k1');
  answer = { status: 200, body: keysOf('k2') };
  clock.ms += 600_001;
  await keys.find('k1');
  await expect.poll(() => keys.find('k1')).toBeUndefined();
});

it.each([
  ['is redirected elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:9/' }, body: '' }],
  ['fails', { status: 500, body: keysOf('k1') }],
  ['answers with no keys', { status: 200, body: '<html>' }],
  ['answers without end', { status: 200, body: ' '.repeat(300_000) }],
])(
  'goes on with the keys that it has for an hour where the address %s, and with none after it',
  async (_, fault) => {
    const { keys, clock } = source();
    answer = { status: 200, body: keysOf('k1') };
    await keys.find('k1');
    answer = fault;
    clock.ms += 600_001;
    expect(await keys.find('k1')).toBeDefined();
    await expect.poll(() => clock.faults).toHaveLength(1);
    clock.ms += 3_600_000;
    await expect(keys.find('k1')).rejects.toMatchObject({ code: 'SIGNING_KEYS_UNAVAILABLE' });
  },
);
