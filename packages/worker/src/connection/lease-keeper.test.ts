import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Assignment } from '@codelanes/protocol';
import { leaseClock } from './lease-table.js';
import { LeaseKeeper } from './lease-keeper.js';

const minutes = 60_000;
const call: Assignment = {
  callId: 'a'.repeat(32),
  generation: 1,
  token: 'f'.repeat(64),
  lane: ['primary'],
  mode: 'exclusive',
  pool: 'command',
  executionMs: 5 * minutes,
  request: { protocolVersion: 1, operation: 'execute_command', workspaceId: 'primary', command: 'make' },
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('LeaseKeeper', () => {
  it('lets the lease of a call end, and ends its process, that hangs for long after its running time', async () => {
    const told: string[] = [];
    const keeper = new LeaseKeeper({
      marginMs: 3_000,
      processes: { kill: ({ pid }) => told.push(`killed ${pid}`) },
      renew: () => Promise.resolve([]),
      onLost: (callId) => told.push(`lost ${callId}`),
    });
    keeper.registered({ leaseTtlMs: 30_000, renewEveryMs: 10_000 }, leaseClock());
    keeper.hold([call], leaseClock());
    keeper.started(call, { pid: 4242, startTime: 1, bootId: 'b' });
    await vi.advanceTimersByTimeAsync(14 * minutes);
    expect([keeper.has(call.callId), told]).toEqual([true, []]);
    await vi.advanceTimersByTimeAsync(minutes);
    expect([keeper.has(call.callId), told]).toEqual([false, ['killed 4242', `lost ${call.callId}`]]);
    keeper.stop();
  });
});
