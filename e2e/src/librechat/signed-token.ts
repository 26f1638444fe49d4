import { createHash, createPrivateKey, randomUUID, sign } from 'node:crypto';

/** For whom LibreChat signs, and for which worker. */
export interface TokenTerms {
  readonly user: string;
  readonly tenant: string;
  readonly workerId: string;
}

/** A token as LibreChat signs it, with the key as its `.env` has it: PEM in base64. */
export function signedToken(base64: string, { user, tenant, workerId }: TokenTerms): string {
  const context = { principal_source: 'librechat_jwt', role: 'USER', sub: user, tenant_id: tenant };
  // In the order of the alphabet, and with what this user does not have.
  const { principal_source, role, sub, tenant_id } = context;
  const hashed = { chc_user_id: '', org_id: '', principal_source, role, service_id: '', sub, tenant_id };
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: 'librechat',
    aud: 'codeapi',
    ...context,
    code_worker_id: workerId,
    iat: now,
    nbf: now,
    exp: now + 300,
    jti: randomUUID(),
    auth_context_hash: createHash('sha256').update(JSON.stringify(hashed)).digest('hex'),
  };
  const input = [{ alg: 'EdDSA', typ: 'JWT', kid: 'lc-codeapi-2026-05' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const key = createPrivateKey(Buffer.from(base64, 'base64'));
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}
