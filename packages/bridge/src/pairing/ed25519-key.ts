import { createPublicKey, type KeyObject } from 'node:crypto';
import { CodelanesError } from '@codelanes/protocol';

/** Parsing a key costs as much as a verification; so many are kept. */
const most = 1_000;
const parsed = new Map<string, KeyObject>();

/** The PEM of an Ed25519 public key in the one form in which it is kept. @throws CodelanesError `MALFORMED_REQUEST` */
export function ed25519Pem(text: string): string {
  const key = publicKeyOf(text);
  if (key?.asymmetricKeyType === 'ed25519') return key.export({ type: 'spki', format: 'pem' }).toString();
  throw new CodelanesError(
    'MALFORMED_REQUEST',
    'The request is malformed: body.publicKey: expected an Ed25519 public key in PEM.',
  );
}

/** The key of a PEM that `ed25519Pem` made. */
export function ed25519KeyOf(pem: string): KeyObject {
  const known = parsed.get(pem);
  if (known !== undefined) return known;
  const key = createPublicKey(pem);
  const [oldest] = parsed.keys();
  if (parsed.size >= most && oldest !== undefined) parsed.delete(oldest);
  parsed.set(pem, key);
  return key;
}

function publicKeyOf(text: string): KeyObject | undefined {
  if (!text.startsWith('-----BEGIN PUBLIC KEY-----')) return undefined;
  try {
    return createPublicKey(text);
  } catch {
    return undefined;
  }
}
