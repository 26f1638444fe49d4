import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newestLog, SetupLog } from './setup-log.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-setup-log-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const begin = (startedAt: number) => SetupLog.create(folder, { call: 'c'.repeat(32), startedAt });

it('the log of a setup can be read while it runs, and is for the worker alone', () => {
  const log = begin(1);
  log.write(Buffer.from('fetching\n'));
  expect(newestLog(folder)).toBe('fetching\n');
  log.say('The worktree is ready.');
  log.close();
  expect(newestLog(folder)).toBe('fetching\ncodelanes: The worktree is ready.\n');
  const [name = ''] = readdirSync(folder);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

it('a flood keeps beginning and end and says how much is left out', () => {
  const log = begin(1);
  log.write(Buffer.from('first\n'));
  for (let piece = 0; piece < 160; piece += 1) log.write(Buffer.alloc(64 * 1024, 'x'));
  log.write(Buffer.from('last\n'));
  expect(log.end().endsWith('last')).toBe(true);
  expect(log.end().length).toBeLessThanOrEqual(2_000);
  log.close();
  const text = newestLog(folder) ?? '';
  expect(text.startsWith('first\n')).toBe(true);
  expect(text.endsWith('last\n')).toBe(true);
  const omitted = Number(/\[\.\.\. (\d+) bytes omitted \.\.\.\]/u.exec(text)?.[1]);
  const marker = `\n[... ${omitted} bytes omitted ...]\n`;
  expect(text.length - marker.length + omitted).toBe(6 + 160 * 64 * 1024 + 5);
  expect(text.length).toBeLessThan(7 * 1024 ** 2);
});

it('the five newest logs of a worktree are kept', () => {
  for (let run = 1; run <= 8; run += 1) {
    const log = begin(run * 1000);
    log.say(`run ${run}`);
    log.close();
  }
  expect(readdirSync(folder)).toHaveLength(5);
  expect(newestLog(folder)).toContain('run 8');
  expect(newestLog(join(folder, 'missing'))).toBeUndefined();
});
