import { describe, expect, it } from 'vitest';
import { LeaseTable } from './lease-table.js';

const call = (callId: string, token = `token-${callId}`) => ({
  callId,
  generation: 1,
  token,
  lane: ['primary'] as const,
  mode: 'exclusive' as const,
  pool: 'command' as const,
});

describe('LeaseTable', () => {
  it('gives a lease up a margin before it ends, counted from the sending of its last renewal', () => {
    let now = 0;
    const table = new LeaseTable(() => now);
    table.hold(call('a'), 30);
    expect(table.nextEndIn(5)).toBe(25);
    now = 10;
    table.renewed(table.leases, 8, 30);
    now = 32;
    expect(table.takeEnding(5)).toEqual([]);
    now = 33;
    expect(table.takeEnding(5)).toEqual([{ callId: 'a', init: undefined }]);
    expect(table.has('a')).toBe(false);
    expect(table.nextEndIn(5)).toBeUndefined();
  });

  it('never lets a late reply shorten a lease', () => {
    const table = new LeaseTable(() => 0);
    table.hold(call('a'), 50);
    table.renewed(table.leases, 10, 30);
    expect(table.nextEndIn(0)).toBe(50);
  });

  it('is kept by renewals only for as long as its call can take', () => {
    let now = 0;
    const table = new LeaseTable(() => now);
    table.hold(call('a'), 30, 50);
    table.renewed(table.leases, 10, 30);
    expect(table.nextEndIn(0)).toBe(40);
    now = 30;
    table.renewed(table.leases, 30, 30);
    expect(table.nextEndIn(0)).toBe(20);
    now = 50;
    expect(table.takeEnding(0)).toEqual([{ callId: 'a', init: undefined }]);
  });

  it('renews by token: a lease of another token of the same call stays as it is', () => {
    const table = new LeaseTable(() => 0);
    table.hold(call('a', 'new'), 30);
    table.renewed([{ callId: 'a', generation: 1, token: 'old' }], 100, 30);
    expect(table.nextEndIn(0)).toBe(30);
  });

  it('hands out the processes that run under a lease that ends', () => {
    let now = 0;
    const table = new LeaseTable(() => now);
    table.hold(call('a'), 30);
    const init = { pid: 7, startTime: 8, bootId: 'boot' };
    table.started('a', init);
    now = 30;
    expect(table.takeEnding(0)).toEqual([{ callId: 'a', init }]);
  });
});
