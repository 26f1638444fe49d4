import { timingSafeEqual } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { digestOf, recordOfSecret } from './secret-digest.js';

vi.mock(import('node:crypto'), async (importOriginal) => {
  const original = await importOriginal();
  return { ...original, timingSafeEqual: vi.fn(original.timingSafeEqual) };
});

const known = ['first', 'second', 'third'].map((secret) => ({ secret, digest: digestOf(secret) }));

function comparedFor(shown: string): string[] {
  vi.mocked(timingSafeEqual).mockClear();
  recordOfSecret(shown, known);
  return vi.mocked(timingSafeEqual).mock.calls.map(([digest]) => new TextDecoder().decode(digest));
}

describe('a secret that somebody shows', () => {
  it.each(known)('is known as $secret', ({ secret }) => {
    expect(recordOfSecret(secret, known)?.secret).toBe(secret);
  });

  it.each(['', 'firs', 'first ', 'First', 'fourth', digestOf('first'), 'x'.repeat(100_000)])(
    'is unknown as %.20j',
    (shown) => {
      expect(recordOfSecret(shown, known)).toBeUndefined();
    },
  );

  it.each(['first', 'second', 'third', 'fourth', ''])(
    'is compared in constant time with every one, in the same order, as %j',
    (shown) => {
      expect(comparedFor(shown)).toEqual(known.map(({ digest }) => digest));
    },
  );
});
