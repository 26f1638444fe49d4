import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { workspaceToolRequestSchema } from '@codelanes/protocol';
import { callIdOfWork, canonicalJson, fingerprintOf } from './fingerprint.js';

describe('the fingerprint of a request', () => {
  const body = { protocolVersion: 1, operation: 'read_file', workspaceId: 'primary', path: 'a.ts' };
  const fingerprint = (value: object) => fingerprintOf(workspaceToolRequestSchema.parse(value));

  it('is the same in whatever order the keys came', () => {
    const turned = Object.fromEntries(Object.entries(body).reverse());
    expect(fingerprint(turned)).toBe(fingerprint(body));
  });

  it('is another one when any field differs, or is there at all', () => {
    const variants = [body, { ...body, path: 'b.ts' }, { ...body, worktree: 'a' }, { ...body, startLine: 1 }];
    expect(new Set(variants.map(fingerprint)).size).toBe(variants.length);
  });
});

describe('canonical JSON', () => {
  it('says the same as the value, whatever the order of its keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(turned(value))).toBe(canonicalJson(value));
      }),
    );
  });
});

describe('the call id of a durable request', () => {
  const work = { principal: 'ann', requestId: 'request-0123456789', fingerprint: 'ab'.repeat(32) };

  it('is the same whenever it is sent', () => {
    expect(callIdOfWork(work)).toMatch(/^[0-9a-f]{32}$/);
    expect(callIdOfWork({ ...work })).toBe(callIdOfWork(work));
  });

  it.each([{ principal: 'bob' }, { requestId: 'request-0123456780' }, { fingerprint: 'cd'.repeat(32) }])(
    'is another one with %o',
    (change) => {
      expect(callIdOfWork({ ...work, ...change })).not.toBe(callIdOfWork(work));
    },
  );
});

/** The same value with the keys of every object in reverse order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, turned(part)]),
  );
}
