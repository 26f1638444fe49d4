import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkerKey } from './worker-key.js';
import { keyFileOf, readWorkerKey, writeWorkerKey } from './worker-key.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-key-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function newKey(type: 'ed25519' | 'x25519' = 'ed25519'): WorkerKey {
  const { privateKey } = type === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('x25519');
  return {
    version: 1,
    bridgeUrl: 'https://bridge.example',
    workerId: 'laptop',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    credential: 'a'.repeat(43),
    expiresAt: '2030-01-01T00:00:00.000Z',
  };
}

describe('the key of a worker', () => {
  it('is read as it was written, belongs to its owner alone, and leaves nothing beside it', () => {
    const file = keyFileOf(folder, 'laptop');
    const key = newKey();
    writeWorkerKey(file, key);
    writeWorkerKey(file, { ...key, credential: 'b'.repeat(43) });
    expect(readWorkerKey(file)).toEqual({ ...key, credential: 'b'.repeat(43) });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'pairings')).mode & 0o077).toBe(0);
    expect(readdirSync(join(folder, 'pairings'))).toEqual(['laptop.json']);
  });

  it.each<readonly [string, (file: string) => void, RegExp]>([
    [
      'others may read it',
      (file) => {
        chmodSync(file, 0o640);
      },
      /others can read it/,
    ],
    [
      'it is a link',
      (file) => {
        rmSync(file);
        symlinkSync('/etc/hostname', file);
      },
      /cannot be read/,
    ],
    [
      'it is missing',
      (file) => {
        rmSync(file);
      },
      /cannot be read/,
    ],
    [
      'it was cut off',
      (file) => {
        writeFileSync(file, '{"version":1');
      },
      /holds something else/,
    ],
    [
      'its key is of another kind',
      (file) => {
        rmSync(file);
        writeWorkerKey(file, newKey('x25519'));
      },
      /of another kind/,
    ],
  ])('is not used where %s, and says how to pair anew', (_, spoil, why) => {
    const file = keyFileOf(folder, 'laptop');
    writeWorkerKey(file, newKey());
    spoil(file);
    expect(() => readWorkerKey(file)).toThrow(why);
    expect(() => readWorkerKey(file)).toThrow('codelanes pair');
  });
});
