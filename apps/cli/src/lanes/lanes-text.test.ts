import type { LanesView } from '@codelanes/protocol';
import { describe, expect, it } from 'vitest';
import { lanesText } from './lanes-text.js';

const idle: LanesView = {
  workerId: 'local',
  online: true,
  slots: { used: 0, of: 4 },
  files: { used: 0, of: 16 },
  running: [],
  waiting: [],
  quarantined: [],
};

describe('lanesText', () => {
  it('says so where nothing happens', () => {
    expect(lanesText(idle)).toContain('0 of 4 command slots');
    expect(lanesText(idle)).toContain('Nothing runs.');
    expect(lanesText(idle)).toContain('Nothing waits.');
  });

  it('tells of each call its lane, since when, for whom, and why it waits', () => {
    const call = { mode: 'exclusive', pool: 'command', operation: 'execute_command' } as const;
    const text = lanesText({
      ...idle,
      slots: { used: 1, of: 4 },
      running: [
        {
          ...call,
          callId: 'a'.repeat(32),
          lane: ['app', 'worktree:a'],
          principal: 'p1',
          sinceMs: 61_000,
          state: 'running',
        },
      ],
      waiting: [
        {
          ...call,
          callId: 'b'.repeat(32),
          lane: ['app'],
          principal: 'p2',
          sinceMs: 3_000,
          waiting: {
            position: 1,
            blockers: [{ lane: ['app', 'worktree:a'], state: 'running', ageMs: 61_000 }],
          },
        },
      ],
    });
    const lines = text.split('\n');
    expect(lines.find((line) => line.startsWith('app/.worktrees/a'))).toMatch(
      /running +1 min 1 s +p1 +a{32}$/,
    );
    expect(lines.find((line) => line.startsWith('app '))).toMatch(
      /3\.0 s +p2 +b{32} +behind the call running in/,
    );
  });

  it('tells of closed lanes why, since when and how to free them', () => {
    const text = lanesText({
      ...idle,
      quarantined: [{ lane: ['app', 'worktree:a'], reason: 'Process 7 may run.', sinceMs: 60_000 }],
    });
    expect(text).toContain('for 1 min 0 s: app/.worktrees/a. Process 7 may run.');
    expect(text).toContain('codelanes lanes release app/.worktrees/a');
    expect(lanesText(idle)).not.toContain('Quarantined');
  });
});
