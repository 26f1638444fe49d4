import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { logEvent, readRuns } from './event-log.js';

function logFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'codelanes-log-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  return join(folder, 'events.jsonl');
}

it('gives back what was logged: whole runs, stopped ones, open ones, and the same call twice', () => {
  const file = logFile();
  const call = (callId: string) => ({ callId, operation: 'write_file', worktree: 'a' });
  logEvent(file, 'begin', call('1'));
  logEvent(file, 'begin', call('2'));
  logEvent(file, 'end', call('1'));
  logEvent(file, 'stopped', call('2'));
  logEvent(file, 'begin', call('1'));
  const runs = readRuns('w', file);
  expect(runs).toMatchObject([
    { worker: 'w', callId: '1', worktree: 'a', isWhole: true },
    { callId: '2', isWhole: false },
    { callId: '1', end: undefined, isWhole: false },
  ]);
  const [first, second, third] = runs;
  if (!first?.end || !second?.end || !third) throw new Error('two of them ended');
  const moments = [first.begin, second.begin, first.end, second.end, third.begin];
  expect([...moments].sort((one, other) => (one < other ? -1 : 1))).toEqual(moments);
});

it('refuses a log that ends what it never began', () => {
  const file = logFile();
  logEvent(file, 'end', { callId: '1', operation: 'read_file', worktree: undefined });
  expect(() => readRuns('w', file)).toThrow('never began');
});
