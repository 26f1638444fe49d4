import type { Blocker, WaitingReason } from '@codelanes/protocol';
import { CodelanesError, laneOf, limits } from '@codelanes/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QueueTimeout } from '../dispatch/queue-timeout.js';
import { errorReply } from './error-reply.js';

const lane = fc
  .record({
    workspaceId: fc.string({ minLength: 1, maxLength: 128 }),
    repository: fc.option(fc.string({ unit: 'binary', maxLength: limits.pathLength }), { nil: undefined }),
    worktree: fc.option(fc.string({ maxLength: 128 }), { nil: undefined }),
  })
  .map(laneOf);

const blocker: fc.Arbitrary<Blocker> = fc.record({
  lane,
  ageMs: fc.nat(),
  state: fc.constantFrom('waiting', 'running'),
  callId: fc.option(fc.constant('a'.repeat(32)), { nil: undefined }),
});

const reason: fc.Arbitrary<WaitingReason> = fc.record({
  blockers: fc.array(blocker, { maxLength: 20 }),
  lacking: fc.constantFrom('slots', 'files', 'repository', undefined),
  position: fc.integer({ min: 1, max: limits.queueLength }),
});

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

describe('the reply to a queue time-out', () => {
  it('never has more bytes than LibreChat retries, and keeps to five blockers', () => {
    fc.assert(
      fc.property(lane, fc.nat(), reason, (own, waitedMs, waitedFor) => {
        const { body } = errorReply(new QueueTimeout(own, waitedMs, waitedFor), 'A');
        expect(bytesOf(body)).toBeLessThanOrEqual(limits.queueTimeoutBodyBytes);
        expect(body.waitedFor?.position).toBe(waitedFor.position);
        expect(body.waitedFor?.blockers.length).toBeLessThanOrEqual(limits.blockersShown);
      }),
    );
  });

  it('stays within that bound even where another sent the code with a long message', () => {
    const error = new CodelanesError('WORKSPACE_QUEUE_TIMEOUT', '\u0001'.repeat(limits.errorMessageLength));
    expect(bytesOf(errorReply(error, 'own').body)).toBeLessThanOrEqual(limits.queueTimeoutBodyBytes);
  });

  it('says in a sentence what was waited for', () => {
    const own = laneOf({ workspaceId: 'primary' });
    const other = {
      lane: laneOf({ workspaceId: 'primary', worktree: 'a' }),
      ageMs: 40,
      state: 'running' as const,
    };
    const sentence = (waitedFor: WaitingReason) => new QueueTimeout(own, 100, waitedFor).message;
    expect(sentence({ blockers: [other, other], position: 1 })).toBe(
      'The call did not start: it waited 100 ms for lane primary behind a call running in primary/.worktrees/a ' +
        'for 40 ms, and 1 more.',
    );
    const setup = { ...other, operation: 'setup' as const, boundMs: 600_000 };
    expect(sentence({ blockers: [other, setup], position: 1 })).toBe(
      'The call did not start: it waited 100 ms for lane primary behind the setup of primary/.worktrees/a, ' +
        'which has run for 40 ms and may take 600000 ms, and 1 more.',
    );
    expect(sentence({ blockers: [], lacking: 'slots', position: 3 })).toBe(
      'The call did not start: it waited 100 ms for lane primary; every command slot of the worker is taken.',
    );
    expect(sentence({ blockers: [], position: 1 })).toBe(
      'The call did not start: it waited 100 ms for lane primary; its worker did not take it.',
    );
  });

  it('asks for a retry after one second', () => {
    const error = new QueueTimeout(laneOf({ workspaceId: 'a' }), 1, { blockers: [], position: 1 });
    expect(errorReply(error, 'A')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  });
});

describe('the reply to any other error', () => {
  it('holds the sentence, the code and what to do next, and nothing else', () => {
    const { status, body } = errorReply(new CodelanesError('EDIT_CONFLICT', 'The file changed.'), 'A');
    expect(status).toBe(409);
    expect(Object.keys(body)).toEqual(['error', 'code', 'next']);
  });
});
