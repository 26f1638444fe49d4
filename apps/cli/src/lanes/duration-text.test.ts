import { describe, expect, it } from 'vitest';
import { durationText } from './duration-text.js';

describe('durationText', () => {
  it.each([
    [0, '0.0 s'],
    [9_940, '9.9 s'],
    [9_960, '10 s'],
    [59_600, '1 min 0 s'],
    [185_000, '3 min 5 s'],
    [7_620_000, '2 h 7 min'],
  ])('tells %i ms as %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});
