import { generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { issuedCredentialSchema } from '@codelanes/protocol';
import { RedisServer } from '../scheduler/testing/redis-server.js';
import type { Flaws } from './testing/paired-worker.js';
import { PairedWorker } from './testing/paired-worker.js';
import { TestBridge, testTokens } from './testing/test-bridge.js';

let bridge: TestBridge;
let worker: PairedWorker;
let other: PairedWorker;
const lines: string[] = [];
const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });

beforeAll(async () => {
  bridge = await TestBridge.start({}, log);
  worker = await PairedWorker.paired(bridge);
  other = await PairedWorker.paired(bridge, 'desktop');
  await worker.register();
  await other.register();
});

afterAll(async () => {
  await bridge.close();
});

beforeEach(() => {
  lines.length = 0;
});

const turnedAway = () => lines.filter((line) => line.includes('turned away'));

const anonymous = 'This bridge does not know the credential of this worker.';
const unknownToken = 'This bridge does not know the bearer token.';
const stranger = generateKeyPairSync('ed25519').privateKey;

/** Changes the last but one of some characters. */
function bent(text: string): string {
  const at = text.length - 2;
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}

describe('a request that was not signed by the worker of its path', () => {
  const attacks: readonly (readonly [string, () => Flaws])[] = [
    ['signed by another key', () => ({ privateKey: stranger })],
    ['signed by another worker’s key', () => ({ privateKey: other.privateKey })],
    ['with another worker’s credential', () => ({ credential: other.credential })],
    [
      'with another worker’s key and credential',
      () => ({ privateKey: other.privateKey, credential: other.credential }),
    ],
    ['with a credential that never was', () => ({ credential: 'A'.repeat(43) })],
    ['with another body than was signed', () => ({ sent: { body: '{"version":1}' } })],
    [
      'with the signed body written otherwise',
      () => ({ sent: { body: JSON.stringify({ waitMs: 0, version: 1 }) } }),
    ],
    ['to another route than was signed', () => ({ sent: { target: '/v1/workers/laptop/renew' } })],
    ['with a query that was not signed', () => ({ sent: { target: '/v1/workers/laptop/poll?x=1' } })],
    ['to another worker', () => ({ sent: { target: '/v1/workers/desktop/poll' } })],
    ['to a worker that is none', () => ({ sent: { target: '/v1/workers/nobody/poll' } })],
    [
      'with another time than was signed',
      () => ({ headers: { 'x-codelanes-time': String(Date.now() + 1) } }),
    ],
    ['with another nonce than was signed', () => ({ headers: { 'x-codelanes-nonce': 'A'.repeat(32) } })],
    ['with a bent signature', () => ({ signature: bent })],
    ['with a signature of zeros', () => ({ signature: () => 'A'.repeat(86) })],
    ['with a signature that is too long', () => ({ signature: (right) => `${right}A` })],
    ['without a signature', () => ({ headers: { 'x-codelanes-signature': '' } })],
    ['with its key as a bearer token', () => ({ headers: { authorization: `Bearer ${worker.credential}` } })],
  ];

  it.each(attacks)('is refused in the same words, and told of once: %s', async (name, flaws) => {
    const answer = await worker.poll(0, flaws());
    expect(answer.status).toBe(401);
    expect(answer.json['code']).toBe('UNAUTHENTICATED');
    expect(answer.json['error']).toBe(name.includes('bearer') ? unknownToken : anonymous);
    expect(turnedAway()).toHaveLength(1);
    expect(lines.join('')).not.toContain(worker.credential);
    expect((await worker.poll()).status).toBe(200);
  });

  it('does not become that worker by the token for workers', async () => {
    const headers = { authorization: `Bearer ${testTokens.worker}` };
    const answer = await worker.register({ headers });
    expect(answer).toMatchObject({ status: 403, json: { code: 'WORKER_UNAUTHORIZED' } });
  });
});

describe('a request that the worker did sign', () => {
  it('passes once', async () => {
    const once: Flaws = { nonce: 'B'.repeat(32), time: String(Date.now()) };
    expect((await worker.poll(0, once)).status).toBe(200);
    const again = await worker.poll(0, once);
    expect(again).toMatchObject({ status: 401, json: { code: 'PROOF_REPLAYED' } });
    expect(turnedAway()).toHaveLength(1);
  });

  it('passes once although it is sent many times at the same moment', async () => {
    const once: Flaws = { nonce: 'C'.repeat(32), time: String(Date.now()) };
    const answers = await Promise.all(Array.from({ length: 10 }, () => worker.poll(0, once)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it.each([
    [-3_600, '3600 s behind that of the bridge'],
    [3_600, '3600 s ahead of that of the bridge'],
  ])('says by how much a clock is off: %i s', async (seconds, how) => {
    const answer = await worker.poll(0, { time: String(Date.now() + seconds * 1000) });
    expect(answer).toMatchObject({ status: 401, json: { code: 'CLOCK_SKEWED' } });
    const told = Number(/(\d+) s/.exec(String(answer.json['error']))?.[1]);
    expect(Math.abs(told - 3_600)).toBeLessThan(30);
    expect(answer.json['error']).toContain(how.replace(/^\d+ s /, ''));
  });

  it('is not looked at for its clock where its signature does not hold', async () => {
    const answer = await worker.poll(0, { time: '1', privateKey: stranger });
    expect(answer.json['error']).toBe(anonymous);
  });

  it('opens no route of callers or administrators', async () => {
    for (const target of ['/v1/bridge/workers', '/v1/workspace-tools/capabilities']) {
      const headers = worker.signedHeaders(target, '');
      expect((await bridge.send(target, { headers })).json['code']).toBe('UNAUTHENTICATED');
    }
  });
});

describe('a credential that has expired', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('opens nothing but its exchange, which is told of once, and the new one opens all', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const own = await TestBridge.start({}, log);
    const sleeper = await PairedWorker.paired(own, 'sleeper');
    await sleeper.register();
    const { credential: old } = sleeper;
    vi.setSystemTime(Date.now() + 16 * 60_000);
    expect(await sleeper.poll()).toMatchObject({ status: 401, json: { code: 'CREDENTIAL_EXPIRED' } });
    expect(turnedAway()).toHaveLength(1);
    expect(lines.join('')).not.toContain(old);
    const stolen = await sleeper.refresh({ privateKey: stranger });
    expect(stolen).toMatchObject({ status: 401, json: { code: 'UNAUTHENTICATED' } });
    const exchanged = await sleeper.refresh();
    expect(exchanged.status).toBe(200);
    sleeper.credential = issuedCredentialSchema.parse(exchanged.json).credential;
    expect((await sleeper.poll()).status).toBe(200);
    expect((await sleeper.poll(0, { credential: old })).json['code']).toBe('CREDENTIAL_EXPIRED');
    await own.close();
  });
});

describe('any headers of a proof', () => {
  const names = ['authorization', 'x-codelanes-time', 'x-codelanes-nonce', 'x-codelanes-signature'] as const;
  const value = fc.oneof(
    fc.stringMatching(/^[!-~]{0,100}$/),
    fc.stringMatching(/^Bridge [\w-]{43}$/),
    fc.constantFrom('0', '-1', '1e99', '9'.repeat(14), 'A'.repeat(32), 'A'.repeat(86), 'Bridge', 'Bridge '),
  );

  it.each(names)('are refused as 401, whatever %s says', async (name) => {
    await fc.assert(
      fc.asyncProperty(value, async (text) => {
        const answer = await worker.poll(0, { headers: { [name]: text } });
        expect(answer.status).toBe(401);
        expect(Buffer.byteLength(answer.text)).toBeLessThan(4096);
      }),
      { numRuns: 40 },
    );
  });
});

describe('whoever sends too much or too slowly', () => {
  it('is not read to the end where no worker is known by its headers', async () => {
    const body = JSON.stringify({ pad: 'x'.repeat(3 * 1024 * 1024) });
    const answer = await worker.post('settle', {}, { credential: 'A'.repeat(43), sent: { body } });
    expect(answer.status).toBe(401);
    expect(turnedAway()).toHaveLength(1);
  });

  it('gets BODY_TOO_LARGE although the signature would hold', async () => {
    const answer = await worker.post('report', { pad: 'x'.repeat(5 * 1024 * 1024) });
    expect(answer).toMatchObject({ status: 413, json: { code: 'BODY_TOO_LARGE' } });
    expect(turnedAway()).toHaveLength(1);
    const pairing = { code: 'x'.repeat(32), protocolVersion: 1, publicKey: 'x'.repeat(20_000) };
    expect((await bridge.send('/v1/bridge/pairings/redeem', { body: pairing })).status).toBe(413);
    expect(turnedAway()).toHaveLength(2);
    expect(lines.join('')).not.toContain('xxx');
  });

  it.each([
    ['headers', 'POST /v1/workers/laptop/poll HTTP/1.1\r\nhost: x\r\nx-slow: '],
    [
      'a body',
      'POST /v1/bridge/pairings/redeem HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    ],
  ])(
    'is cut off, and told of once: %s that never end',
    async (_, text) => {
      const strict = await TestBridge.start({ requestTimeoutMs: 1_000 }, log);
      const socket = connect(strict.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(text);
      const drip = setInterval(() => socket.write('a'), 100);
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
      await new Promise((resolve) => socket.once('close', resolve));
      clearInterval(drip);
      expect(answer).toMatch(/^$|it did not arrive in time/);
      expect(turnedAway()).toHaveLength(1);
      expect(turnedAway()[0]).toContain('it did not arrive in time');
      await strict.close();
    },
    60_000,
  );
});

describe('two bridges of one Redis', () => {
  it('let a paired worker in at both, a proof at one of them once, and a revoked one nowhere', async () => {
    const server = await RedisServer.start();
    const store = { kind: 'redis', url: server.url, prefix: 'attacks' } as const;
    const [one, two] = [await TestBridge.start({ store }), await TestBridge.start({ store })];
    try {
      const here = await PairedWorker.paired(one);
      const there = here.at(two);
      expect((await here.register()).status).toBe(200);
      const once: Flaws = { nonce: 'D'.repeat(32), time: String(Date.now()) };
      expect((await here.poll(0, once)).status).toBe(200);
      expect((await here.poll(0, once)).json['code']).toBe('PROOF_REPLAYED');
      expect((await there.poll(0, once)).json['code']).toBe('PROOF_REPLAYED');
      const open = here.poll(25_000);
      // Answered after the poll was let in, which asked the same of Redis before it.
      expect((await here.post('renew', { leases: [] })).status).toBe(200);
      await two.send('/v1/bridge/workers/laptop/revoke', { as: 'admin', body: {} });
      expect((await open).json).toMatchObject({ assignments: [] });
      expect((await here.poll()).json['code']).toBe('UNAUTHENTICATED');
      expect((await there.poll()).json['code']).toBe('UNAUTHENTICATED');
    } finally {
      await Promise.all([one.close(), two.close()]);
      await server.stop();
    }
  });
});
