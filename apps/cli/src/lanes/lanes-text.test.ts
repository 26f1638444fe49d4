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
  paused: [],
  quarantined: [],
  failedSetups: [],
};

describe('lanesText', () => {
  it('says so where nothing happens', () => {
    expect(lanesText(idle)).toContain('0 of 4 command slots');
    expect(lanesText(idle)).toContain('Nothing runs.');
    expect(lanesText(idle)).toContain('Nothing waits.');
  });

  it('says how long ago the worker was heard of, as one that was killed is online until its lease ends', () => {
    expect(lanesText({ ...idle, heardAgoMs: 12_000 })).toContain(
      'Worker local is online, heard of 12 s ago: 0',
    );
    expect(lanesText({ ...idle, online: false })).toContain('Worker local is offline: 0');
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

  it('tells of scripts that wait for their tools, where there are such', () => {
    expect(lanesText(idle)).not.toContain('PAUSED');
    const text = lanesText({
      ...idle,
      paused: [
        {
          mode: 'exclusive',
          pool: 'command',
          operation: 'run_script',
          callId: 'c'.repeat(32),
          lane: ['app', 'worktree:a'],
          principal: 'p1',
          sinceMs: 3_000,
        },
      ],
    });
    const [head, line] = text.split('\n').slice(-2);
    expect(head).toMatch(/^PAUSED IN +WHAT +SINCE/);
    expect(line).toMatch(/^app\/\.worktrees\/a +run_script +3\.0 s +p1 +c{32}$/);
  });

  it('tells of a setup for how long it runs, and how long it may', () => {
    const text = lanesText({
      ...idle,
      running: [
        {
          mode: 'shared',
          pool: 'command',
          operation: 'setup',
          boundMs: 3_600_000,
          callId: 'a'.repeat(32),
          lane: ['app', 'worktree:a'],
          principal: 'system',
          sinceMs: 61_000,
          state: 'running',
        },
      ],
    });
    expect(text).toMatch(/setup +running +1 min 1 s of 1 h 0 min +system/);
  });

  it('tells of closed lanes why, since when and how to free them', () => {
    const text = lanesText({
      ...idle,
      quarantined: [{ lane: ['app', 'worktree:a'], reason: 'Process 7 may run.', sinceMs: 60_000 }],
    });
    expect(text).toContain('for 1 min 0 s: app/.worktrees/a. Process 7 may run.');
    expect(text).toContain('codelanes lanes release app/.worktrees/a');
    // Not every lane heals: some wait for a person.
    expect(text).toContain('Where processes are why, it heals when they are gone; else');
    expect(lanesText(idle)).not.toContain('Quarantined');
  });

  it('tells of failed setups why, since when, and how to run them again', () => {
    const reason = 'It ended with status 3.';
    const text = lanesText({
      ...idle,
      failedSetups: [
        { lane: ['app', 'repo:api', 'worktree:a'], reason, sinceMs: 60_000 },
        { lane: ['whole'], reason, sinceMs: 60_000 },
      ],
    });
    expect(text).toContain('Setup failed 1 min 0 s ago: app/api/.worktrees/a. It ended with status 3.');
    expect(text).toContain('codelanes setup log app/api/.worktrees/a');
    expect(text).toContain('codelanes setup retry app/api/.worktrees/a');
    expect(text).toContain('Setup failed 1 min 0 s ago: whole.');
    expect(text).not.toContain('retry whole');
    expect(lanesText(idle)).not.toContain('Setup failed');
  });
});
