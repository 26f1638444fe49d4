import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUtf8, isWellFormed, utf8Length } from './text.js';

const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
});
const wholeText = fc.string({ unit: 'binary' });

describe('texts', () => {
  it('are well-formed exactly when UTF-8 gives them back', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(isWellFormed(text)).toBe(Buffer.from(text).toString() === text);
      }),
    );
  });

  it('are as long as their bytes', () => {
    fc.assert(
      fc.property(wholeText, (text) => {
        expect(utf8Length(text)).toBe(Buffer.from(text).length);
      }),
    );
  });

  it('are ordered as their bytes', () => {
    fc.assert(
      fc.property(wholeText, wholeText, (one, other) => {
        expect(Math.sign(compareUtf8(one, other))).toBe(Buffer.compare(Buffer.from(one), Buffer.from(other)));
      }),
    );
    expect(compareUtf8('\uffee', '😀')).toBeLessThan(0);
    expect(compareUtf8('a', 'ab')).toBeLessThan(0);
  });
});
