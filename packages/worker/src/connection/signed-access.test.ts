import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IssuedCredential } from '@codelanes/protocol';
import { proofOf, proofText } from '@codelanes/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWorkerKey, writeWorkerKey } from '../pairing/worker-key.js';
import { SignedAccess } from './signed-access.js';

let folder: string;
let file: string;
const { privateKey } = generateKeyPairSync('ed25519');
const first = 'a'.repeat(43);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-access-'));
  file = join(folder, 'laptop.json');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function access(leftMs: number): SignedAccess {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const expiresAt = new Date(Date.now() + leftMs).toISOString();
  const identity = { bridgeUrl: 'https://bridge.example', workerId: 'laptop' };
  writeWorkerKey(file, { version: 1, ...identity, privateKey: pem, credential: first, expiresAt });
  return new SignedAccess(file);
}

function issued(letter: string): IssuedCredential {
  const expiresAt = new Date(Date.now() + 900_000).toISOString();
  return { protocolVersion: 1, workerId: 'laptop', credential: letter.repeat(43), expiresAt };
}

const credentialIn = (signed: SignedAccess) => signed.headersOf('/v1/x', '')['authorization'];

describe('the access of a paired worker', () => {
  it('signs each request over its target and its body, with a nonce of its own', () => {
    const signed = access(900_000);
    const [target, body] = ['/v1/workers/laptop/poll', '{"version":1}'];
    const headers = signed.headersOf(target, body);
    const proof = proofOf(headers);
    if (proof === undefined) throw new Error('No proof was sent.');
    const bodyDigest = createHash('sha256').update(body).digest('hex');
    const text = proofText({ method: 'POST', target, credential: first, bodyDigest }, proof);
    const signature = Buffer.from(proof.signature, 'base64url');
    expect(verify(null, Buffer.from(text), createPublicKey(privateKey), signature)).toBe(true);
    expect(proofOf(signed.headersOf(target, body))?.nonce).not.toBe(proof.nonce);
  });

  it('asks for no new credential while the one that it has lasts', () => {
    expect(access(900_000).due(() => Promise.reject(new Error('It was asked for.')))).toBeUndefined();
  });

  it('exchanges one that ends soon beside its requests, and keeps the new one on disk', async () => {
    const signed = access(60_000);
    expect(signed.due(() => Promise.resolve(issued('b')))).toBeUndefined();
    await expect.poll(() => credentialIn(signed)).toBe(`Bridge ${'b'.repeat(43)}`);
    expect(readWorkerKey(file).credential).toBe('b'.repeat(43));
  });

  it('goes on with what it has where the answer is lost, and waits for a new one once that has ended', async () => {
    const lost = () => Promise.reject(new Error('The connection was lost.'));
    const soon = access(60_000);
    expect(soon.due(lost)).toBeUndefined();
    await Promise.resolve();
    expect(credentialIn(soon)).toBe(`Bridge ${first}`);
    const ended = access(-1_000);
    await expect(ended.due(lost)).rejects.toThrow('The connection was lost.');
    await ended.due(() => Promise.resolve(issued('c')));
    expect(credentialIn(ended)).toBe(`Bridge ${'c'.repeat(43)}`);
  });

  it('asks once, however many requests wait for the answer', async () => {
    const signed = access(-1_000);
    let asked = 0;
    const refresh = () => {
      asked += 1;
      return Promise.resolve(issued('d'));
    };
    await Promise.all([signed.due(refresh), signed.due(refresh), signed.renew(refresh)]);
    expect(asked).toBe(1);
  });
});
