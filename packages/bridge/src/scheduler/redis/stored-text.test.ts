import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { laneOfPath, lanePath, storedText, textOfStored } from './stored-text.js';

describe('stored text', () => {
  it('gives back any text, and holds no separator of the scripts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const stored = storedText(text);
        expect(stored).not.toMatch(/[|,=: \n/]/);
        expect(textOfStored(stored)).toBe(text);
      }),
    );
  });

  it('survives half of a surrogate pair', () => {
    expect(textOfStored(storedText('\ud800x'))).toBe('\ud800x');
  });

  it('gives back a lane, and begins with the path of every lane above it', () => {
    const lane = ['primary', 'repo:a/b|c', 'worktree:x'] as const;
    expect(laneOfPath(lanePath(lane))).toEqual(lane);
    expect(lanePath(lane).startsWith(lanePath(lane.slice(0, 2)))).toBe(true);
    expect(lanePath(['primary2']).startsWith(lanePath(['primary']))).toBe(false);
  });
});
