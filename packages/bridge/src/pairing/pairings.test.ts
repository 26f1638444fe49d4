import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Pairings } from './pairings.js';
import { digestOf } from './secret-digest.js';
import { pairingStoresUnderTest } from './testing/pairing-stores-under-test.js';

function publicKey(): string {
  const { publicKey: key } = generateKeyPairSync('ed25519');
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

const binding = { tenantId: 't1', principal: { type: 'user', id: 'ann' } } as const;
const invalid = { code: 'PAIRING_INVALID' };

describe.each(pairingStoresUnderTest)('pairings kept in $name', ({ make }) => {
  async function parts() {
    const store = await (await make())();
    const clock = { now: Date.now() };
    return { clock, pairings: new Pairings(store, {}, () => clock.now) };
  }

  async function paired() {
    const all = await parts();
    const { code } = await all.pairings.offer('laptop', binding);
    const issued = await all.pairings.redeem({ protocolVersion: 1, code, publicKey: publicKey() });
    const standing = await all.pairings.standing('laptop');
    if (standing?.kind !== 'enrolled') throw new Error('It was to be enrolled.');
    return { ...all, issued, id: standing.id };
  }

  it('make a worker of who has the code, for whom the administrator said', async () => {
    const { pairings, issued } = await paired();
    expect(issued.workerId).toBe('laptop');
    expect(issued.credential).toMatch(/^[\w-]{43}$/);
    expect(await pairings.standing('laptop')).toMatchObject({ kind: 'enrolled', binding });
  });

  it('take a code once, even by many at the same moment', async () => {
    const { pairings } = await parts();
    const { code } = await pairings.offer('laptop', undefined);
    const tries = await Promise.allSettled(
      Array.from({ length: 10 }, () => pairings.redeem({ protocolVersion: 1, code, publicKey: publicKey() })),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refusals = tries.flatMap((tried) => (tried.status === 'rejected' ? [tried.reason as unknown] : []));
    expect(refusals).toEqual(Array.from({ length: 9 }, () => expect.objectContaining(invalid) as unknown));
  });

  it('take no code after its ten minutes, none that a newer one has replaced, and none for another worker', async () => {
    const { pairings, clock } = await parts();
    const redeem = (code: string, more: object = {}) =>
      pairings.redeem({ protocolVersion: 1, code, publicKey: publicKey(), ...more });
    const { code: first } = await pairings.offer('laptop', undefined);
    const { code: second } = await pairings.offer('laptop', undefined);
    await expect(redeem(first)).rejects.toMatchObject(invalid);
    await expect(redeem(second, { workerId: 'desktop' })).rejects.toMatchObject(invalid);
    clock.now += 600_001;
    await expect(redeem(second)).rejects.toMatchObject(invalid);
    const { code: third } = await pairings.offer('laptop', undefined);
    await pairings.revoke('laptop');
    await expect(redeem(third)).rejects.toMatchObject(invalid);
  });

  it.each([
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey],
    ['X25519', () => generateKeyPairSync('x25519').publicKey],
  ])('take no key of another kind than Ed25519: %s', async (_, make) => {
    const { pairings } = await parts();
    const { code } = await pairings.offer('laptop', undefined);
    const pem = make().export({ type: 'spki', format: 'pem' }).toString();
    const redeemed = pairings.redeem({ protocolVersion: 1, code, publicKey: pem });
    await expect(redeemed).rejects.toMatchObject({ code: 'MALFORMED_REQUEST' });
    // The code is not spent by that.
    await pairings.redeem({ protocolVersion: 1, code, publicKey: publicKey() });
  });

  it('exchange a credential, and keep the one before it, so that a lost answer does no harm', async () => {
    const { pairings, issued, id } = await paired();
    const digests = async () => {
      const standing = await pairings.standing('laptop');
      return standing?.kind === 'enrolled' ? standing.credentials.map(({ digest }) => digest) : [];
    };
    const lost = await pairings.refresh('laptop', id, issued.credential);
    const again = await pairings.refresh('laptop', id, issued.credential);
    expect(await digests()).toEqual([issued, again].map(({ credential }) => digestOf(credential)));
    await expect(pairings.refresh('laptop', id, lost.credential)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    const next = await pairings.refresh('laptop', id, again.credential);
    expect(await digests()).toEqual([again, next].map(({ credential }) => digestOf(credential)));
  });

  it('know no earlier pairing once there is a newer one or a revocation', async () => {
    const { pairings, issued, id } = await paired();
    const ended: string[] = [];
    pairings.onEnd('laptop', id, () => ended.push('laptop'));
    await pairings.refresh('laptop', id, issued.credential);
    expect(ended).toEqual([]);
    const { code } = await pairings.offer('laptop', undefined);
    await pairings.redeem({ protocolVersion: 1, code, publicKey: publicKey() });
    await expect.poll(() => ended.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await expect(pairings.refresh('laptop', id, issued.credential)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    await pairings.revoke('laptop');
    expect(await pairings.standing('laptop')).toMatchObject({ kind: 'revoked' });
  });
});
