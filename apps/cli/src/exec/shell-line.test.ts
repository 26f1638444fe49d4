import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellLine } from './shell-line.js';

describe('shellLine', () => {
  it('leaves one word to the shell as it stands', () => {
    expect(shellLine(['npm ci && npm test'])).toBe('npm ci && npm test');
  });

  it('keeps every one of several words whole, whatever it holds', () => {
    const word = fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const seen = execFileSync('/bin/sh', ['-c', shellLine(['printf', String.raw`%s\0`, ...words])]);
        const sent = Buffer.from(words.map((each) => `${each}\0`).join(''));
        expect(seen.equals(sent)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
