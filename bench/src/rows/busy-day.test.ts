import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readResult, resultsFolder } from '../report/result-files.js';
import { resultOf } from '../report/result.js';
import { busyDay } from './busy-day.js';

/** Virtual time leaves nothing to chance: whoever measures the day finds what is committed, to the last digit. */
it('the busy day is what its committed table, figures and picture say', async () => {
  const measured = await busyDay.measure(1);
  expect(measured.table).toEqual([
    ['arrangement', 'lost', 'of all', 'wait p50', 'wait p95'],
    ['one lane per root', '1841', '32.1 %', '12.8 s', '29.3 s'],
    ['a lane per worktree, 2 slots', '651', '11.3 %', '3.0 s', '27.6 s'],
    ['a lane per worktree, 4 slots', '284', '4.9 %', '0.0 s', '25.3 s'],
    ['a lane per worktree, 8 slots', '268', '4.7 %', '0.0 s', '24.7 s'],
  ]);
  const { median, also } = resultOf(busyDay, measured);
  expect({ median, also }).toEqual({ median: 0, also: readResult('busy-day')?.also });
  expect(measured.plot).toBe(readFileSync(join(resultsFolder, 'busy-day.svg'), 'utf8'));
});
