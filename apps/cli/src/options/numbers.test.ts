import { describe, expect, it } from 'vitest';
import { seconds, wholeNumber } from './numbers.js';

describe('wholeNumber', () => {
  it('takes both bounds and nothing past them', () => {
    const slots = wholeNumber(1, 8);
    expect([slots('1'), slots('8')]).toEqual([1, 8]);
    for (const text of ['0', '9', '-1', '1.5', '1e1', '', ' 1', 'eight']) {
      expect(() => slots(text)).toThrow('from 1 to 8');
    }
  });
});

describe('seconds', () => {
  it('are told in milliseconds, fractions too', () => {
    const timeout = seconds(300);
    expect([timeout('300'), timeout('0.25')]).toEqual([300_000, 250]);
    for (const text of ['0', '300.001', '-1', 'soon', '1m'])
      expect(() => timeout(text)).toThrow('at most 300');
  });
});
