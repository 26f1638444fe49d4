import { describe, expect, it } from 'vitest';
import { requestIdSchema, traceparentSchema } from './trace.js';

describe('requestIdSchema', () => {
  it('takes what tracing systems make, and nothing that could forge a line of a log', () => {
    for (const id of ['7', '0a4f3c1e-9d1b-4c5e-8f00-1a2b3c4d5e6f', 'Root:1-67891233', 'a'.repeat(128)]) {
      expect(requestIdSchema.safeParse(id).success).toBe(true);
    }
    for (const id of ['', 'a'.repeat(129), 'a b', 'a\nlevel=error', 'a"', '-a', 'é', '../x']) {
      expect(requestIdSchema.safeParse(id).success).toBe(false);
    }
  });
});

describe('traceparentSchema', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = '00f067aa0ba902b7';

  it('takes a traceparent of any version but the forbidden one', () => {
    expect(traceparentSchema.safeParse(`00-${trace}-${parent}-01`).success).toBe(true);
    expect(traceparentSchema.safeParse(`ff-${trace}-${parent}-01`).success).toBe(false);
  });

  it('takes no ids of zeros only, and no other case or length', () => {
    for (const text of [
      `00-${'0'.repeat(32)}-${parent}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${trace.toUpperCase()}-${parent}-01`,
      `00-${trace}-${parent}-1`,
      `00-${trace}-${parent}-01-extra`,
    ]) {
      expect(traceparentSchema.safeParse(text).success).toBe(false);
    }
  });
});
