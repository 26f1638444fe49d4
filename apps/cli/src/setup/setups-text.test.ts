import type { SetupRecord } from '@codelanes/worker';
import { describe, expect, it } from 'vitest';
import { setupsText } from './setups-text.js';

const begun = {
  version: 1 as const,
  lane: ['primary', 'repo:libs/web', 'worktree:a'],
  worktree: '1:2 1:3 4',
  setup: 'f'.repeat(64),
  call: 'c'.repeat(32),
  startedAt: 1_000,
};
const lineOf = (record: SetupRecord) => setupsText([record], 66_000).split('\n')[1];

describe('the setups of lanes for people', () => {
  it('say how far each lane is, for how long, and what to do', () => {
    const worker = { pid: 1, startTime: 1, bootId: 'b' };
    expect(lineOf({ ...begun, state: 'running', worker })).toMatch(
      /^primary\/libs\/web\/\.worktrees\/a +running +1 min 5 s +1970-01-01T00:00:01\.000Z +see it with "codelanes setup log primary/,
    );
    const ended = { ...begun, endedAt: 3_000 };
    expect(lineOf({ ...ended, state: 'ready', leftRunning: [] })).toMatch(/ ready +2\.0 s +\S+$/);
    expect(lineOf({ ...ended, state: 'ready', leftRunning: ['redis-server'] })).toContain('redis-server');
    expect(lineOf({ ...ended, state: 'interrupted' })).toContain('run again before the next command');
    expect(lineOf({ ...ended, state: 'faulted', reason: 'The disk is full.' })).toMatch(
      / faulted .*The disk is full\. It is tried again before the next command$/,
    );
    expect(lineOf({ ...ended, state: 'failed', reason: 'It ended with status 3.', logEnd: '' })).toContain(
      'It ended with status 3. See why with "codelanes setup log primary/libs/web/.worktrees/a", then "codelanes setup retry',
    );
  });

  it('say nothing to the terminal that a lane chose', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J';
    const line = lineOf({ ...begun, endedAt: 3_000, state: 'ready', leftRunning: [evil] });
    expect(line).toContain('\\u001b]0;owned\\u0007\\u001b[2J');
  });

  it('say of an environment that its worker is to be started again', () => {
    const ended = { ...begun, lane: ['primary'], endedAt: 3_000 };
    expect(lineOf({ ...ended, state: 'interrupted' })).toContain('run again when its worker starts');
    expect(
      lineOf({ ...ended, state: 'failed', reason: 'Its setup ended with status 3.', logEnd: '' }),
    ).toMatch(/^primary +failed .*See why with "codelanes setup log primary", then start the worker again$/);
  });

  it('say so where there are none', () => {
    expect(setupsText([], 0)).toBe('No lane has been set up yet.');
  });
});
