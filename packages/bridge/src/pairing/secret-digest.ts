import { createHash, timingSafeEqual } from 'node:crypto';

/** What is kept of tokens, codes and credentials. They are random, so that a plain digest tells nothing of them. */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/**
 * Which of these records is of the secret that somebody has shown, if any. The time it takes tells neither which one was
 * met nor how near a guess came: digests are compared, each of them to its end, and all of them.
 */
export function recordOfSecret<R extends { readonly digest: string }>(
  shown: string,
  known: readonly R[],
): R | undefined {
  const digest = Buffer.from(digestOf(shown));
  let found: R | undefined;
  for (const record of known) {
    if (timingSafeEqual(Buffer.from(record.digest), digest)) found = record;
  }
  return found;
}
