import type { WaitingReason } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { waitingKey, waitingText } from './waiting-text.js';

const behindTwo: WaitingReason = {
  position: 2,
  blockers: [
    { lane: ['app', 'worktree:a'], state: 'running', ageMs: 12_000 },
    { lane: ['app'], state: 'waiting', ageMs: 400, callId: '0123456789abcdef0123456789abcdef' },
  ],
};

describe('waitingText', () => {
  it('names each blocker by lane, state and age, and its id only where it is told', () => {
    expect(waitingText(behindTwo)).toBe(
      'behind the call running in app/.worktrees/a for 12 s, the call 0123456789abcdef0123456789abcdef waiting in app for 0.4 s (place 2 in the queue)',
    );
  });

  it('names a setup as what it is, with its age and its bound', () => {
    const setup = { operation: 'setup', ageMs: 12_000, boundMs: 600_000, state: 'running' } as const;
    const text = waitingText({ position: 1, blockers: [{ ...setup, lane: ['app', 'worktree:a'] }] });
    expect(text).toBe(
      'behind the setup running in app/.worktrees/a for 12 s of at most 10 min 0 s (place 1 in the queue)',
    );
  });

  it('says which room is missing where no call stands in the way', () => {
    expect(waitingText({ blockers: [], lacking: 'slots', position: 1 })).toBe(
      'for a free command slot (place 1 in the queue)',
    );
  });

  it('says that the worker has not come for it where nothing is in the way', () => {
    expect(waitingText({ blockers: [], position: 3 })).toBe(
      'for its worker to take it (place 3 in the queue)',
    );
  });
});

describe('waitingKey', () => {
  it('changes with a blocker or the place, never with time alone', () => {
    const older = {
      ...behindTwo,
      blockers: behindTwo.blockers.map((one) => ({ ...one, ageMs: one.ageMs + 1 })),
    };
    expect(waitingKey(older)).toBe(waitingKey(behindTwo));
    expect(waitingKey({ ...behindTwo, position: 1 })).not.toBe(waitingKey(behindTwo));
    expect(waitingKey({ ...behindTwo, blockers: behindTwo.blockers.slice(1) })).not.toBe(
      waitingKey(behindTwo),
    );
  });
});
