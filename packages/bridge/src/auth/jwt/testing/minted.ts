import { createHmac, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import type { CallerClaims } from '../caller-claims.js';
import { authContextHash } from '../caller-claims.js';

export interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export function ed25519Pair(): Pair {
  return generateKeyPairSync('ed25519');
}

export function rsaPair(modulusLength = 2048): Pair {
  return generateKeyPairSync('rsa', { modulusLength });
}

export function pemOf({ publicKey }: Pair): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

export function jwkOf({ publicKey }: Pair, more: object = {}): object {
  return { ...publicKey.export({ format: 'jwk' }), ...more };
}

/** Claims as LibreChat makes them, at that time in seconds, with some changed afterwards. */
export function claimsAt(now: number, changes: object = {}): Record<string, unknown> {
  const context = {
    sub: 'user-1',
    tenant_id: 'tenant-1',
    role: 'USER',
    principal_source: 'librechat_jwt',
  } as const satisfies Partial<CallerClaims>;
  return {
    iss: 'librechat',
    aud: 'codeapi',
    ...context,
    iat: now,
    nbf: now,
    exp: now + 300,
    jti: randomUUID(),
    auth_context_hash: authContextHash(context),
    ...changes,
  };
}

/** As `claimsAt`, with a hash of the changed claims. */
export function honestClaimsAt(now: number, changes: Partial<CallerClaims>): Record<string, unknown> {
  const {
    sub = 'user-1',
    tenant_id = 'tenant-1',
    role = 'USER',
    principal_source = 'librechat_jwt',
  } = changes;
  const { org_id, service_id, chc_user_id } = changes;
  const context = { sub, tenant_id, role, principal_source, org_id, service_id, chc_user_id };
  return claimsAt(now, { ...changes, auth_context_hash: authContextHash(context) });
}

/** A token with that header and those claims, signed as the algorithm of the header says where it is a sensible one. */
export function signedToken(
  { privateKey }: Pair,
  claims: object,
  header: Readonly<Record<string, unknown>> = {},
): string {
  const isRsa = privateKey.asymmetricKeyType === 'rsa';
  const input = signingInput({ alg: isRsa ? 'RS256' : 'EdDSA', typ: 'JWT', kid: 'k1', ...header }, claims);
  const signature = sign(isRsa ? 'sha256' : null, Buffer.from(input), privateKey);
  return `${input}.${signature.toString('base64url')}`;
}

/** A token of a shared secret. */
export function hmacToken(secret: string | Buffer, claims: object, header: object = {}): string {
  const input = signingInput({ alg: 'HS256', typ: 'JWT', kid: 'k1', ...header }, claims);
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

export function signingInput(header: object, claims: object): string {
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}
