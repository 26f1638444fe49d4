import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ed25519Pair, honestClaimsAt, pemOf, signedToken, type Pair } from '../auth/jwt/testing/minted.js';
import { TestBridge } from './testing/test-bridge.js';

const [first, second] = [ed25519Pair(), ed25519Pair()];
let folder: string;
let bridge: TestBridge;
const lines: string[] = [];
const told = (text: string) => lines.filter((line) => line.includes(text)).length;

/** As whoever renews a key does it: no reader ever sees half a file. */
async function put(text: string): Promise<void> {
  await writeFile(join(folder, 'next'), text);
  await rename(join(folder, 'next'), join(folder, 'keys.pem'));
}

beforeEach(async () => {
  lines.length = 0;
  folder = await mkdtemp(join(tmpdir(), 'codelanes-keys-'));
  await put(pemOf(first));
  bridge = await TestBridge.start(
    { jwt: { keys: { file: join(folder, 'keys.pem') }, checkEveryMs: 20 } },
    pino({ level: 'info' }, { write: (line) => void lines.push(line) }),
  );
});
afterEach(async () => {
  await bridge.close();
  await rm(folder, { recursive: true });
});

const tokenOf = (pair: Pair) => signedToken(pair, honestClaimsAt(Math.floor(Date.now() / 1000), {}));

/** With which status the bridge answers whoever comes with that token; it knows no worker. */
async function answered(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await bridge.send('/v1/bridge/workers/w/status', { as: undefined, headers });
  return status;
}

const patient = { timeout: 20_000 };

it('a file of keys that was exchanged counts without a restart; the key before counts no more', async () => {
  const known = tokenOf(first);
  expect([await answered(known), await answered(tokenOf(second))]).toEqual([200, 401]);
  await put(pemOf(second));
  await expect.poll(() => answered(tokenOf(second)), patient).toBe(200);
  // It was let in before.
  expect([await answered(known), await answered(tokenOf(first))]).toEqual([401, 401]);
  expect(told('the keys of callers were renewed')).toBe(1);
});

it('a file that cannot be used leaves the keys that were there, and is told of once', async () => {
  await put('-----BEGIN PUBLIC KEY-----\nhalf');
  await expect.poll(() => told('cannot be used'), patient).toBe(1);
  await put(pemOf(second).replace('PUBLIC', 'PRIVATE'));
  await expect.poll(() => told('it holds a private key'), patient).toBe(1);
  expect([await answered(tokenOf(first)), await answered(tokenOf(second))]).toEqual([200, 401]);
  await put(pemOf(second));
  await expect.poll(() => answered(tokenOf(second)), patient).toBe(200);
  expect(told('cannot be used')).toBe(2);
});
