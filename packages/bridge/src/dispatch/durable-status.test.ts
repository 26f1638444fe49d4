import { durableStatusSchema, type Settlement } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import type { DurableView } from '../scheduler/durable-requests.js';
import { durableStatusOf } from './durable-status.js';
import { LaneRouting } from './lane-routing.js';

const result = {
  protocolVersion: 1 as const,
  operation: 'execute_command' as const,
  workspaceId: 'primary',
  exitCode: 0,
  stdout: '',
  stderr: '',
  truncated: false,
  timedOut: false,
};
const fulfilled: Settlement = { status: 'fulfilled', result };
const rejected = (code: 'EXECUTION_ABORTED' | 'NOT_FOUND'): Settlement => ({
  status: 'rejected',
  error: { code, message: 'No.' },
});

function statusOf(stands: DurableView['stands'], generation: 'A' | 'own' = 'A') {
  const view: DurableView = {
    requestId: 'request-0123456789',
    callId: '0'.repeat(32),
    workerId: 'worker-1',
    queueWaitMs: 30_000,
    request: { protocolVersion: 1, operation: 'execute_command', workspaceId: 'primary', command: 'true' },
    stands,
  };
  const status = durableStatusOf(view, generation, new LaneRouting(undefined));
  expect(durableStatusSchema.safeParse(status).error).toBeUndefined();
  return status;
}

const ended = (end: Extract<DurableView['stands'], { state: 'ended' }>['end']) =>
  statusOf({ state: 'ended', end });

describe('durableStatusOf', () => {
  it('is queued while it waits, with its place; only own clients are told since when and what for', () => {
    const stands: DurableView['stands'] = {
      state: 'waiting',
      sinceMs: 700,
      waiting: { position: 3, blockers: [] },
    };
    expect(statusOf(stands)).toMatchObject({ state: 'queued', queuePosition: 3 });
    expect(statusOf(stands)).not.toHaveProperty('waitingFor');
    expect(statusOf(stands)).not.toHaveProperty('sinceMs');
    expect(statusOf(stands, 'own')).toMatchObject({ sinceMs: 700, waitingFor: stands.waiting });
  });

  it.each(['reserved', 'delivered', 'running', 'cancelling'] as const)('is admitted while %s', (state) => {
    expect(statusOf({ state })).toMatchObject({
      state: 'admitted',
      cancelRequested: state === 'cancelling',
    });
  });

  it('is completed with the result, also where it ended before a cancellation reached it', () => {
    expect(ended({ how: 'settled', settlement: fulfilled, cancelled: false })).toMatchObject({
      state: 'completed',
      result,
      cancelRequested: false,
    });
    expect(ended({ how: 'settled', settlement: fulfilled, cancelled: true })).toMatchObject({
      state: 'completed',
      cancelRequested: true,
    });
  });

  it('is cancelled where it was taken back, or stopped on request', () => {
    const stopped = { how: 'settled', settlement: rejected('EXECUTION_ABORTED'), cancelled: true } as const;
    for (const end of [stopped, { how: 'withdrawn', why: 'cancelled' } as const]) {
      expect(ended(end)).toMatchObject({ state: 'cancelled', cancelRequested: true });
    }
  });

  it('says after its deadline what it waited for; only own clients are told so in a field', () => {
    const blocker = { lane: ['primary', 'worktree:a'], ageMs: 7_000, state: 'running' } as const;
    const waited = { waitedMs: 10_000, waitedFor: { position: 2, blockers: [blocker] } };
    const stands: DurableView['stands'] = {
      state: 'ended',
      end: { how: 'withdrawn', why: 'deadline', waited },
    };
    expect(statusOf(stands)).toMatchObject({ state: 'failed', error: { code: 'WORKSPACE_QUEUE_TIMEOUT' } });
    expect(statusOf(stands).error?.message).toMatch(/waited 10000 ms .* for 7000 ms/);
    expect(statusOf(stands).waitingFor).toBeUndefined();
    expect(statusOf(stands, 'own').waitingFor).toEqual(waited.waitedFor);
  });

  it('is failed with a code otherwise: ASSIGNMENT_EXPIRED is an unknown outcome', () => {
    const codes = [
      ended({ how: 'interrupted', reason: 'the worker was not heard from' }),
      ended({ how: 'withdrawn', why: 'deadline' }),
      ended({ how: 'settled', settlement: rejected('NOT_FOUND'), cancelled: true }),
      ended({
        how: 'settled',
        settlement: { status: 'fulfilled', result: { ...result, workspaceId: 'other' } },
        cancelled: false,
      }),
    ].map(({ state, error }) => [state, error?.code]);
    expect(codes).toEqual([
      ['failed', 'ASSIGNMENT_EXPIRED'],
      ['failed', 'WORKSPACE_QUEUE_TIMEOUT'],
      // Generation A knows no NOT_FOUND.
      ['failed', 'INVALID_PATH'],
      ['failed', 'RESULT_INVALID'],
    ]);
  });
});
