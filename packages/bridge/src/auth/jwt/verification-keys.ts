import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

const leastModulusBits = 2048;

/** A public key, and the only algorithms that a token may name with it. */
export interface VerificationKey {
  /** Left out, the key goes with every id that a token names. */
  readonly keyId: string | undefined;
  readonly key: KeyObject;
  readonly algorithms: readonly string[];
}

const jwkSchema = z.looseObject({
  kty: z.string(),
  kid: z.string().optional(),
  use: z.string().optional(),
  alg: z.string().optional(),
});
const jwksSchema = z.looseObject({ keys: z.array(jwkSchema).max(100) });
type Jwk = z.infer<typeof jwkSchema>;

/**
 * The keys of a text: a public key as PEM or as JWK, or a set of them (JWKS), of which those for something else
 * than signatures of Ed25519 or RSA are left out.
 *
 * @throws Error with the reason, where it holds none that can be used, or a private or symmetric one: such a key
 * must not lie where a bridge reads.
 */
export function parseVerificationKeys(text: string): readonly VerificationKey[] {
  if (text.trimStart().startsWith('{')) return keysOfJson(text);
  if (text.includes('PRIVATE KEY'))
    throw new Error('it holds a private key; give the bridge the public one only');
  if (!/^-----BEGIN (?:RSA )?PUBLIC KEY-----/.test(text.trimStart())) {
    throw new Error('it is neither a public key in PEM, nor a JWK, nor a JWKS');
  }
  return [verificationKey(publicKeyOf(text), undefined)];
}

/** The key of that id; of a token without an id the only one there is. */
export function keyFor(
  keys: readonly VerificationKey[],
  keyId: string | undefined,
): VerificationKey | undefined {
  if (keyId === undefined) return keys.length === 1 ? keys[0] : undefined;
  return keys.find((key) => key.keyId === undefined || key.keyId === keyId);
}

function keysOfJson(text: string): readonly VerificationKey[] {
  const json = jsonOf(text);
  const set = jwksSchema.safeParse(json);
  if (!set.success) return [keyOfJwk(jwkSchema.parse(json))];
  const { keys } = set.data;
  for (const jwk of keys) refuseSecret(jwk);
  const usable = keys.filter(isForSignatures).map(keyOfJwk);
  if (usable.length === 0) throw new Error('it holds no Ed25519 or RSA key for signatures');
  const ids = usable.map(({ keyId }) => keyId);
  if (new Set(ids).size < ids.length) throw new Error('two of its keys have the same id (kid), or none');
  return usable;
}

function isForSignatures({ kty, use, crv }: Jwk): boolean {
  if (use !== undefined && use !== 'sig') return false;
  return kty === 'RSA' || (kty === 'OKP' && crv === 'Ed25519');
}

function keyOfJwk(jwk: Jwk): VerificationKey {
  refuseSecret(jwk);
  const { kid, alg } = jwk;
  const known = verificationKey(publicKeyOf(jwk), kid);
  if (alg === undefined || known.algorithms.includes(alg)) return known;
  throw new Error(`its key is of ${known.algorithms.join(' or ')}, and says that it is for ${alg}`);
}

function refuseSecret(jwk: Jwk): void {
  if (!('d' in jwk) && !('k' in jwk)) return;
  throw new Error('it holds a private or shared key; give the bridge public keys only');
}

function verificationKey(key: KeyObject, keyId: string | undefined): VerificationKey {
  if (key.asymmetricKeyType === 'ed25519') return { keyId, key, algorithms: ['EdDSA', 'Ed25519'] };
  if (key.asymmetricKeyType !== 'rsa') throw new Error('its key is neither an Ed25519 nor an RSA key');
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < leastModulusBits) {
    throw new Error(`its RSA key has less than ${leastModulusBits} bits`);
  }
  return { keyId, key, algorithms: ['RS256'] };
}

function publicKeyOf(source: string | Jwk): KeyObject {
  try {
    return typeof source === 'string'
      ? createPublicKey(source)
      : createPublicKey({ key: source, format: 'jwk' });
  } catch (error) {
    throw new Error('its key cannot be understood', { cause: error });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('it is no JSON', { cause: error });
  }
}
