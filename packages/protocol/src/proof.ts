import { z } from 'zod';
import { proofNonceHeader, proofSignatureHeader, proofTimeHeader } from './headers.js';

/** A secret that a bridge gives to a paired worker: 32 random bytes. */
export const credentialSchema = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'expected 32 bytes in base64url');

const proofHeadersSchema = z.object({
  [proofTimeHeader]: z.string().regex(/^[1-9][0-9]{0,14}$/, 'expected milliseconds since 1970'),
  [proofNonceHeader]: z.string().regex(/^[A-Za-z0-9_-]{32}$/, 'expected 24 bytes in base64url'),
  [proofSignatureHeader]: z.string().regex(/^[A-Za-z0-9_-]{86}$/, 'expected 64 bytes in base64url'),
});

/** What proves that a request comes from the holder of a worker's private key. */
export interface Proof {
  /** When it was signed, in milliseconds since 1970, as it was sent. */
  readonly time: string;
  readonly nonce: string;
  readonly signature: string;
}

/** What a proof is a signature of, beside itself. */
export interface SignedRequest {
  readonly method: string;
  /** The target of the request from `/v1/` on, query included: as the bridge sees it behind whatever proxy. */
  readonly target: string;
  readonly credential: string;
  /** SHA-256 of the body's bytes, in lower-case hex; that of no bytes where there is no body. */
  readonly bodyDigest: string;
}

/** The headers that carry a proof. */
export function proofHeadersOf({ time, nonce, signature }: Proof): Readonly<Record<string, string>> {
  return { [proofTimeHeader]: time, [proofNonceHeader]: nonce, [proofSignatureHeader]: signature };
}

/** The proof that headers carry, or `undefined` where one of its parts is missing or malformed. */
export function proofOf(headers: Readonly<Record<string, unknown>>): Proof | undefined {
  const parsed = proofHeadersSchema.safeParse(headers);
  if (!parsed.success) return undefined;
  const {
    [proofTimeHeader]: time,
    [proofNonceHeader]: nonce,
    [proofSignatureHeader]: signature,
  } = parsed.data;
  return { time, nonce, signature };
}

/**
 * The text that is signed. No part can hold the line break between them, so that no two requests have the same
 * text; its first line keeps a signature from meaning something elsewhere.
 */
export function proofText(request: SignedRequest, { time, nonce }: Pick<Proof, 'time' | 'nonce'>): string {
  const { method, target, credential, bodyDigest } = request;
  return ['codelanes worker request 1', method, target, time, nonce, bodyDigest, credential].join('\n');
}
