import { createHash, generateKeyPairSync, randomBytes, randomUUID, sign, type KeyObject } from 'node:crypto';
import { proofHeadersOf, proofText } from '@codelanes/protocol';

class SigningKey {
  readonly publicPem: string;
  readonly #privateKey: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    this.publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    this.#privateKey = privateKey;
  }

  protected signed(text: string): string {
    return sign(null, Buffer.from(text), this.#privateKey).toString('base64url');
  }
}

/** Signs tokens as LibreChat does for its users. */
export class TokenMint extends SigningKey {
  /** A new token; another one every time. */
  token(): string {
    const now = Math.floor(Date.now() / 1000);
    const who = {
      chc_user_id: '',
      org_id: '',
      principal_source: 'librechat_jwt',
      role: 'USER',
      service_id: '',
      sub: 'bench',
      tenant_id: 'bench',
    };
    const hash = createHash('sha256').update(JSON.stringify(who)).digest('hex');
    const times = { iat: now, nbf: now, exp: now + 300, jti: randomUUID() };
    const claims = { iss: 'librechat', aud: 'codeapi', ...who, ...times, auth_context_hash: hash };
    const input = [{ alg: 'EdDSA', typ: 'JWT', kid: 'bench' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${input}.${this.signed(input)}`;
  }
}

/** The key of a paired worker. */
export class WorkerKey extends SigningKey {
  /** The headers of a POST, signed as the worker signs it. */
  headersOf(target: string, body: string, credential: string): Record<string, string> {
    const stamp = { time: String(Date.now()), nonce: randomBytes(24).toString('base64url') };
    const bodyDigest = createHash('sha256').update(body).digest('hex');
    const text = proofText({ method: 'POST', target, credential, bodyDigest }, stamp);
    const signature = this.signed(text);
    return { authorization: `Bridge ${credential}`, ...proofHeadersOf({ ...stamp, signature }) };
  }
}
