import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { occurrences } from './occurrences.js';

const text = fc.stringMatching(/^[ab]{0,24}$/);
const needle = fc.stringMatching(/^[ab]{1,5}$/);

function byIndexOf(sequence: string, sought: string, step: number): number[] {
  const found: number[] = [];
  for (let at = sequence.indexOf(sought); at !== -1; at = sequence.indexOf(sought, at + step)) found.push(at);
  return found;
}

describe('occurrences', () => {
  it('finds every place, overlapping ones too', () => {
    fc.assert(
      fc.property(text, needle, (sequence, sought) => {
        expect([...occurrences(sequence, sought, { overlapping: true })]).toEqual(
          byIndexOf(sequence, sought, 1),
        );
      }),
    );
  });

  it('finds from left to right the places that do not overlap', () => {
    fc.assert(
      fc.property(text, needle, (sequence, sought) => {
        const found = [...occurrences(sequence, sought, { overlapping: false })];
        expect(found).toEqual(byIndexOf(sequence, sought, sought.length));
      }),
    );
  });

  it('finds nothing of nothing', () => {
    expect([...occurrences('abc', '', { overlapping: true })]).toEqual([]);
  });
});
