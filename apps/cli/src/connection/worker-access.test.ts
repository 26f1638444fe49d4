import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliError } from '../errors/cli-error.js';
import { workerAccess } from './worker-access.js';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'codelanes-access-'));
});
afterEach(() => {
  rmSync(state, { recursive: true });
});

const bridgeUrl = 'https://bridge.example.org';

function pairAs(workerId: string): string {
  mkdirSync(join(state, 'pairings'), { recursive: true });
  const file = join(state, 'pairings', `${workerId}.json`);
  const { privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const credential = 'c'.repeat(43);
  const expiresAt = new Date(0).toISOString();
  const key = { version: 1, bridgeUrl, workerId, privateKey, credential, expiresAt };
  writeFileSync(file, JSON.stringify(key), { mode: 0o600 });
  return file;
}

async function refusal(flags: Parameters<typeof workerAccess>[0], workerId: string): Promise<string> {
  const error: unknown = await workerAccess(flags, state, workerId).catch((thrown: unknown) => thrown);
  if (!(error instanceof CliError)) throw new Error('it was let in');
  return `${error.message} ${error.next}`;
}

describe('what a worker shows its bridge', () => {
  it('is the key of the bridge that it is paired with', async () => {
    const keyFile = pairAs('laptop');
    expect(await workerAccess({}, state, 'laptop')).toEqual({ bridgeUrl, keyFile });
    expect(await workerAccess({ bridge: `${bridgeUrl}/` }, state, 'laptop')).toEqual({ bridgeUrl, keyFile });
  });

  it('is no key of one bridge to another', async () => {
    pairAs('laptop');
    expect(await refusal({ bridge: 'https://other.example.org' }, 'laptop')).toMatch(
      /the worker laptop of https:\/\/bridge\.example\.org, not of .*Leave --bridge out/u,
    );
  });

  it('is nothing under a name that it was not paired by, which it is told', async () => {
    pairAs('laptop');
    expect(await refusal({}, 'laptob')).toBe(
      'This machine is paired as laptop, not as laptob. Add --worker-id laptop.',
    );
  });

  it('is nothing on a machine with neither key nor token, which is told of both ways', async () => {
    expect(await refusal({}, 'laptop')).toMatch(
      /neither a key .* nor a token .*codelanes pair.*--token-file/u,
    );
  });

  it('is else the token for workers', async () => {
    mkdirSync(join(state, 'tokens'));
    writeFileSync(join(state, 'tokens/worker'), 'secret\n');
    expect(await workerAccess({}, state, 'laptop')).toEqual({
      bridgeUrl: 'http://127.0.0.1:4180',
      token: 'secret',
    });
  });
});
