import { generateKeyPairSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { proofHeadersOf } from '@codelanes/protocol';
import { expect, it, vi } from 'vitest';
import { MemoryPairingStore } from './memory-pairing-store.js';
import { Pairings } from './pairings.js';
import { digestOf } from './secret-digest.js';
import { WorkerProof } from './worker-proof.js';

vi.mock(import('node:crypto'), async (importOriginal) => {
  const original = await importOriginal();
  return { ...original, timingSafeEqual: vi.fn(original.timingSafeEqual) };
});

/** Pairs a worker, and refreshes its credential once. */
async function pairedTwice() {
  const pairings = new Pairings(await MemoryPairingStore.open());
  const { code } = await pairings.offer('laptop', undefined);
  const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
  const first = await pairings.redeem({ protocolVersion: 1, code, publicKey: String(publicKey) });
  const standing = await pairings.standing('laptop');
  if (standing?.kind !== 'enrolled') throw new Error('It was to be enrolled.');
  const second = await pairings.refresh('laptop', standing.id, first.credential);
  return { pairings, first: first.credential, second: second.credential };
}

function begin(pairings: Pairings, credential: string): Promise<WorkerProof> {
  const proof = {
    time: String(Date.now()),
    nonce: randomBytes(24).toString('base64url'),
    signature: randomBytes(64).toString('base64url'),
  };
  const headers = { authorization: `Bridge ${credential}`, ...proofHeadersOf(proof) };
  return WorkerProof.begin({ workerId: 'laptop', method: 'POST', target: '/v1/x', headers }, pairings);
}

it('compares each credential of a worker in constant time, whichever is shown and if none is', async () => {
  const { pairings, first, second } = await pairedTwice();
  const both = [first, second].map(digestOf);
  const compared = () =>
    vi.mocked(timingSafeEqual).mock.calls.map(([digest]) => new TextDecoder().decode(digest));

  for (const shown of [first, second]) {
    vi.mocked(timingSafeEqual).mockClear();
    await expect(begin(pairings, shown)).resolves.toMatchObject({ credential: shown });
    expect(compared()).toEqual(both);
  }
  vi.mocked(timingSafeEqual).mockClear();
  const unknown = randomBytes(32).toString('base64url');
  await expect(begin(pairings, unknown)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(compared()).toEqual(both);
});
