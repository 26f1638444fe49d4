import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signedToken, type TokenTerms } from './signed-token.js';

/** The key by which a LibreChat signs for its users; the public half lies in a file, for the bridge. */
export class SigningKey {
  readonly file: string;
  readonly #base64: string;

  constructor(folder: string) {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    this.file = join(folder, 'librechat-jwt.pub.pem');
    writeFileSync(this.file, publicKey);
    this.#base64 = Buffer.from(privateKey).toString('base64');
  }

  /** A new token of that user, as LibreChat makes one for each attempt. */
  token({ user = 'ann', tenant = 'main', workerId = 'w1' }: Partial<TokenTerms> = {}): string {
    return signedToken(this.#base64, { user, tenant, workerId });
  }
}
