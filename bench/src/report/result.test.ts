import { describe, expect, it } from 'vitest';
import type { Row } from '../row.js';
import { metBy, resultOf, resultSchema } from './result.js';

const row: Row = {
  name: 'sample',
  what: 'A sample.',
  unit: 'ms',
  gate: 8,
  goal: 5,
  measure: () => Promise.resolve({ rounds: [1] }),
};

describe('resultOf', () => {
  it('takes the median of the rounds and keeps every round', () => {
    const result = resultOf(row, { rounds: [9, 4, 6, 7, 5] });
    expect(result.rounds).toEqual([9, 4, 6, 7, 5]);
    expect(result.median).toBe(6);
    expect(result.met).toBe('gate');
  });

  it('writes what its own schema reads, and nothing that names the machine', () => {
    const result = resultOf(row, { rounds: [1], also: { other: 2 } });
    expect(resultSchema.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
    expect(Object.keys(result.machine).sort()).toEqual(['cores', 'kernel', 'memoryGiB', 'node', 'processor']);
  });
});

describe('metBy', () => {
  it('names the most demanding bound that a value keeps to', () => {
    expect(metBy(5, row)).toBe('goal');
    expect(metBy(8, row)).toBe('gate');
    expect(metBy(8.1, row)).toBe('nothing');
    expect(metBy(1, { gate: 1.5, goal: null })).toBe('gate');
    expect(metBy(1, { gate: null, goal: null })).toBe('reported only');
  });

  it('turns round where more is better', () => {
    const ratio = { gate: 0.6, goal: 1, better: 'more' } as const;
    expect(metBy(1, ratio)).toBe('goal');
    expect(metBy(0.6, ratio)).toBe('gate');
    expect(metBy(0.59, ratio)).toBe('nothing');
  });
});
