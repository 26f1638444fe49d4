import { timingSafeEqual } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { StaticTokens } from './static-tokens.js';

vi.mock(import('node:crypto'), async (importOriginal) => {
  const original = await importOriginal();
  return { ...original, timingSafeEqual: vi.fn(original.timingSafeEqual) };
});

const tokens = new StaticTokens({
  callers: ['caller-one-0123456789', 'caller-two-0123456789'],
  admin: 'admin-0123456789abcdef',
  worker: 'worker-0123456789abcdef',
});

describe('the tokens of a bridge', () => {
  it.each([
    ['caller', 'caller-one-0123456789'],
    ['caller', 'caller-two-0123456789'],
    ['admin', 'admin-0123456789abcdef'],
    ['worker', 'worker-0123456789abcdef'],
    [undefined, 'worker-0123456789abcdeX'],
    [undefined, 'short'],
  ])('are all compared in constant time, when one of kind %s is shown: %s', (kind, shown) => {
    vi.mocked(timingSafeEqual).mockClear();
    expect(tokens.find(shown)?.kind).toBe(kind);
    const digests = vi.mocked(timingSafeEqual).mock.calls.map(([known]) => new TextDecoder().decode(known));
    expect(digests).toHaveLength(4);
    expect(new Set(digests).size).toBe(4);
  });
});
