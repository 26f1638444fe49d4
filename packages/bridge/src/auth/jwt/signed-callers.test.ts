import { sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Identity } from '../identity.js';
import type { TokenTerms } from './signed-callers.js';
import { SignedCallers } from './signed-callers.js';
import type { Pair } from './testing/minted.js';
import {
  claimsAt,
  ed25519Pair,
  hmacToken,
  honestClaimsAt,
  jwkOf,
  pemOf,
  rsaPair,
  signedToken,
  signingInput,
} from './testing/minted.js';
import { keyFor, parseVerificationKeys } from './verification-keys.js';

const now = 1_800_000_000;
const ours = ed25519Pair();
const ourRsa = rsaPair();
const theirs = ed25519Pair();

const terms: TokenTerms = {
  issuer: 'librechat',
  audience: 'codeapi',
  clockToleranceSeconds: 30,
  maxLifetimeSeconds: 300,
};

/** Our keys, until a test exchanges them. */
function changingSource() {
  const source = {
    version: 0,
    keys: parseVerificationKeys(pemOf(ours)),
    find: (keyId: string | undefined) => keyFor(source.keys, keyId),
  };
  return source;
}

/** Verifies tokens with those keys, and counts how often it had to look for one. */
function callers(text: string = pemOf(ours)) {
  const keys = parseVerificationKeys(text);
  const clock = { seconds: now, looks: 0 };
  const source = {
    version: 0,
    find: (keyId: string | undefined) => {
      clock.looks += 1;
      return keyFor(keys, keyId);
    },
  };
  const verifier = new SignedCallers(source, terms, () => clock.seconds * 1000);
  return { clock, identify: async (token: string): Promise<Identity> => verifier.identify(token) };
}

const anonymous = 'This bridge does not know the bearer token.';

describe('a token that LibreChat signed', () => {
  it.each([
    ['Ed25519, as EdDSA', ours, {}],
    ['Ed25519, by its newer name', ours, { alg: 'Ed25519' }],
    ['RSA, as RS256', ourRsa, {}],
  ])('names its caller with a key of %s', async (_, pair, header) => {
    const { identify } = callers(pemOf(pair));
    const claims = honestClaimsAt(now, { code_worker_id: 'laptop', org_id: 'org' });
    const identity = await identify(signedToken(pair, claims, header));
    expect(identity.principal).toMatch(/^[0-9a-f]{32}$/);
    expect(identity).toMatchObject({
      kind: 'caller',
      user: { tenantId: 'tenant-1', userId: 'user-1', role: 'USER', workerId: 'laptop' },
    });
  });

  it('yields one principal for one user of one tenant, whatever else it says, and another for any other', async () => {
    const { identify } = callers();
    const principal = async (changes: Parameters<typeof honestClaimsAt>[1]) =>
      (await identify(signedToken(ours, honestClaimsAt(now, changes)))).principal;
    const one = await principal({});
    expect(await principal({ role: 'ADMIN', code_worker_id: 'w' })).toBe(one);
    expect(await principal({ sub: 'user-2' })).not.toBe(one);
    expect(await principal({ tenant_id: 'tenant-2' })).not.toBe(one);
    expect(await principal({ sub: 'b', tenant_id: 'a' })).not.toBe(
      await principal({ sub: 'a', tenant_id: 'b' }),
    );
  });

  it('is verified once, and again neither after its time nor with one bit changed', async () => {
    const { clock, identify } = callers();
    const token = signedToken(ours, claimsAt(now));
    const first = await identify(token);
    expect(await identify(token)).toBe(first);
    expect(clock.looks).toBe(1);
    const [head = '', body = '', signature = ''] = token.split('.');
    const bent = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    await expect(identify(`${head}.${body}.${bent}`)).rejects.toThrow(anonymous);
    clock.seconds += 300 + 31;
    await expect(identify(token)).rejects.toThrow('it has expired');
  });
});

it('is verified again, and no more let in, once its key counts no more', async () => {
  const source = changingSource();
  const verifier = new SignedCallers(source, terms, () => now * 1000);
  const token = signedToken(ours, claimsAt(now));
  const identify = async () => verifier.identify(token);
  await identify();
  source.keys = parseVerificationKeys(pemOf(theirs));
  // What this counts by is the number alone: nothing is looked up for a token that is known.
  await expect(identify()).resolves.toBeDefined();
  source.version += 1;
  await expect(identify()).rejects.toThrow(anonymous);
  await expect(verifier.identify(signedToken(theirs, claimsAt(now)))).resolves.toBeDefined();
});

it('is not kept where its key was withdrawn while it was verified', async () => {
  const source = changingSource();
  const verifier = new SignedCallers(source, terms, () => now * 1000);
  const token = signedToken(ours, claimsAt(now));
  const first = verifier.identify(token);
  await Promise.resolve();
  source.keys = parseVerificationKeys(pemOf(theirs));
  source.version += 1;
  // What is known is forgotten when this one comes, before the first is done.
  const other = verifier.identify(signedToken(theirs, claimsAt(now)));
  await Promise.all([first, other]);
  await expect((async () => verifier.identify(token))()).rejects.toThrow(anonymous);
});

describe('what is signed by LibreChat and nevertheless no token for this bridge', () => {
  it.each([
    ['expired', { exp: now - 31, iat: now - 200 }, 'it has expired'],
    ['not yet valid', { nbf: now + 31 }, 'claim nbf does not hold'],
    ['issued in the future', { iat: now + 31, exp: now + 60 }, 'issued in the future'],
    ['of another issuer', { iss: 'somebody' }, 'claim iss does not hold'],
    ['for another audience', { aud: 'another-api' }, 'claim aud does not hold'],
    ['for several audiences, not this one', { aud: ['a', 'b'] }, 'claim aud does not hold'],
    ['lasting for longer than five minutes', { exp: now + 301 }, 'lasts longer than 300 s'],
    ['expiring before it was issued', { iat: now, exp: now - 1 }, 'expires before it was issued'],
    ['without an end', { exp: undefined }, 'claim exp is missing'],
    ['without a beginning', { nbf: undefined }, 'claim nbf is missing'],
    ['without an id', { jti: undefined }, 'claim jti is missing'],
    ['with an end that is no number', { exp: 'soon' }, 'claim exp does not hold'],
    ['without a user', { sub: undefined }, 'claim sub is missing'],
    ['with an empty user', { sub: '' }, 'claim sub is missing or malformed'],
    ['without a tenant', { tenant_id: undefined }, 'claim tenant_id is missing'],
    ['of a source that nobody trusts', { principal_source: 'agent' }, 'claim principal_source'],
    ['naming a worker that no worker can be', { code_worker_id: '../w' }, 'claim code_worker_id'],
    ['with a tenant that its hash is not of', { tenant_id: 'tenant-2' }, 'auth_context_hash is not that'],
    ['with a role that its hash is not of', { role: 'ADMIN' }, 'auth_context_hash is not that'],
    ['without a hash', { auth_context_hash: undefined }, 'claim auth_context_hash is missing'],
  ])('is refused: %s', async (_, changes, why) => {
    const refused = callers().identify(signedToken(ours, claimsAt(now, changes)));
    await expect(refused).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(refused).rejects.toThrow(why);
  });

  it('may be off by the tolerance of both clocks', async () => {
    const { identify } = callers();
    const late = claimsAt(now, { iat: now - 320, nbf: now - 320, exp: now - 20 });
    const early = claimsAt(now, { iat: now + 30, nbf: now + 30, exp: now + 330 });
    await expect(identify(signedToken(ours, late))).resolves.toBeDefined();
    await expect(identify(signedToken(ours, early))).resolves.toBeDefined();
  });
});

describe('a forged token', () => {
  const claims = claimsAt(now);
  const publicPem = pemOf(ours);
  const unsigned = (header: object) => `${signingInput({ typ: 'JWT', kid: 'k1', ...header }, claims)}.`;
  const input = (token: string) => token.split('.').slice(0, 2).join('.');
  const forged: readonly (readonly [string, string])[] = [
    ['no algorithm', unsigned({ alg: 'none' })],
    ['no algorithm, in capitals', unsigned({ alg: 'NONE' })],
    ['no algorithm, and a signature', `${unsigned({ alg: 'none' })}${'A'.repeat(86)}`],
    ['no signature', unsigned({ alg: 'EdDSA' })],
    ['HS256 over the PEM of the public key', hmacToken(publicPem, claims)],
    [
      'HS256 over the DER of the public key',
      hmacToken(ours.publicKey.export({ type: 'spki', format: 'der' }), claims),
    ],
    ['HS256 over its JWK', hmacToken(JSON.stringify(jwkOf(ours)), claims)],
    ['HS256 over an empty secret', hmacToken('', claims)],
    ['the key of somebody else', signedToken(theirs, claims)],
    ['somebody else’s key brought along (jwk)', signedToken(theirs, claims, { jwk: jwkOf(theirs) })],
    [
      'somebody else’s address of keys (jku)',
      signedToken(theirs, claims, { jku: 'http://127.0.0.1:9/jwks' }),
    ],
    ['somebody else’s certificate (x5u)', signedToken(theirs, claims, { x5u: 'http://127.0.0.1:9/cert' })],
    ['an RSA signature in a token for Ed25519', signedToken(ourRsa, claims, { alg: 'EdDSA' })],
    ['an RSA signature, said to be one', signedToken(ourRsa, claims)],
    ['a signature of ours said to be of RSA', signedToken(ours, claims, { alg: 'RS256' })],
    ['an extension that has to be understood', signedToken(ours, claims, { crit: ['x'], x: 1 })],
    ['a payload that is not encoded', signedToken(ours, claims, { crit: ['b64'], b64: false })],
    [
      'another signature of the same key',
      `${input(signedToken(ours, claims))}.${signedToken(ours, {}).split('.')[2]}`,
    ],
    ['an ECDSA signature of zeros', `${signingInput({ alg: 'ES256', kid: 'k1' }, claims)}.${'A'.repeat(86)}`],
    ['a header that is no JSON', `AAAA.${signingInput({}, claims)}`],
    ['a kid that is no text', signedToken(theirs, claims, { kid: { toString: 'k1' } })],
    ['more than any token has', signedToken(ours, { ...claims, more: 'x'.repeat(8192) })],
  ];

  it.each(forged)('is told nothing: %s', async (_, token) => {
    await expect(callers().identify(token)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: anonymous,
    });
  });

  it.each([
    '../../etc/passwd',
    "k1' OR '1'='1",
    'K1',
    'k1 ',
    'k2',
    '',
    '__proto__',
    'constructor',
    'a'.repeat(1000),
  ])('gains nothing by the id of its key: %j', async (kid) => {
    const jwks = JSON.stringify({ keys: [jwkOf(ours, { kid: 'k1' })] });
    const { identify } = callers(jwks);
    await expect(identify(signedToken(ours, claims, { kid: 'k1' }))).resolves.toBeDefined();
    await expect(identify(signedToken(ours, claims, { kid }))).rejects.toThrow(anonymous);
    await expect(identify(signedToken(theirs, claims, { kid }))).rejects.toThrow(anonymous);
  });

  it('with the id of one key may not use the algorithm of another', async () => {
    const keys = [jwkOf(ours, { kid: 'ed' }), jwkOf(ourRsa, { kid: 'rsa' })];
    const { identify } = callers(JSON.stringify({ keys }));
    await expect(identify(signedToken(ourRsa, claims, { kid: 'rsa' }))).resolves.toBeDefined();
    await expect(identify(signedToken(ourRsa, claims, { kid: 'ed' }))).rejects.toThrow(anonymous);
    await expect(identify(signedToken(ours, claims, { kid: 'rsa' }))).rejects.toThrow(anonymous);
    // PSS with the same RSA key is another algorithm than the one that goes with it.
    const pss = signingInput({ alg: 'PS256', kid: 'rsa' }, claims);
    const signature = sign('sha256', Buffer.from(pss), { key: ourRsa.privateKey, padding: 6 });
    await expect(identify(`${pss}.${signature.toString('base64url')}`)).rejects.toThrow(anonymous);
  });

  it('is refused, and never a fault, whatever its three parts hold', async () => {
    const { identify } = callers();
    const honest = signedToken(ours, claims).split('.');
    const part = fc.oneof(
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
      fc.base64String().map((text) => text.replace(/[+/=]/g, '')),
      fc.constantFrom(...honest),
    );
    await fc.assert(
      fc.asyncProperty(part, part, part, async (...parts) => {
        fc.pre(parts.some((each, index) => each !== honest[index]));
        await expect(identify(parts.join('.'))).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
      }),
    );
  });
});

describe('a text that holds keys', () => {
  const privatePem = (pair: Pair) => pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

  it.each<readonly [string, string, RegExp]>([
    ['nothing', '', /neither a public key/],
    ['a private key in PEM', privatePem(ours), /private key/],
    ['a private JWK', JSON.stringify(ours.privateKey.export({ format: 'jwk' })), /private or shared/],
    ['a shared secret', JSON.stringify({ kty: 'oct', k: 'c2VjcmV0' }), /private or shared/],
    [
      'a set with a shared secret',
      JSON.stringify({ keys: [jwkOf(ours), { kty: 'oct', k: 'eA' }] }),
      /private or shared/,
    ],
    [
      'a set without a key for signatures',
      JSON.stringify({ keys: [jwkOf(ours, { use: 'enc' })] }),
      /no Ed25519 or RSA/,
    ],
    [
      'a set with one id twice',
      JSON.stringify({ keys: [jwkOf(ours, { kid: 'a' }), jwkOf(theirs, { kid: 'a' })] }),
      /same id/,
    ],
    ['an RSA key that is too short', pemOf(rsaPair(1024)), /less than 2048 bits/],
    [
      'a key for another algorithm than its own',
      JSON.stringify(jwkOf(ours, { alg: 'HS256' })),
      /says that it is for/,
    ],
    ['JSON that is none', '{', /no JSON/],
  ])('is refused where it is %s', (_, text, why) => {
    expect(() => parseVerificationKeys(text)).toThrow(why);
  });
});
