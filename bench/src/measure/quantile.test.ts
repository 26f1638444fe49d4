import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { median, quantile } from './quantile.js';

const values = fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: 1 });

describe('quantile', () => {
  it('is the middle value of an odd number, and the mean of the two middle ones of an even number', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
  });

  it('has the slowest of few values as their p99', () => {
    expect(quantile([5, 9, 1], 0.99)).toBe(9);
    expect(quantile([7], 0.99)).toBe(7);
  });

  it('is not exceeded by at least that share of the values', () => {
    fc.assert(
      fc.property(values, fc.double({ noNaN: true, min: 0.01, max: 1 }), (all, share) => {
        const value = quantile(all, share);
        expect(all.filter((one) => one <= value).length).toBeGreaterThanOrEqual(
          Math.floor(share * all.length),
        );
      }),
    );
  });

  it('refuses to make up a number', () => {
    expect(() => median([])).toThrow('No quantile');
  });
});
