import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { leaveRequest, watchRequests } from './request-folder.js';
import { watches } from './testing/watches.js';

vi.mock(import('node:fs'), async (original) => {
  const { withWatches } = await import('./testing/watches.js');
  return withWatches(await original());
});

let folder: string;
let taken: string[];

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'codelanes-requests-')), 'requests');
  taken = [];
});
afterEach(() => {
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

function watchHere(): void {
  const stop = watchRequests(folder, {
    schema: z.string(),
    take: (request) => taken.push(request),
    onError: (error) => taken.push(String(error)),
  });
  onTestFinished(stop);
}

it.each([
  ['a machine', true],
  ['a machine that has no watches left', false],
])('takes what lies there already and what is left there later, on %s', async (_, hasWatches) => {
  watches.areLeft = hasWatches;
  leaveRequest(folder, 'first', 'lies there');
  watchHere();
  expect(taken).toEqual(['lies there']);
  leaveRequest(folder, 'second', 'comes later');
  await expect.poll(() => taken).toEqual(['lies there', 'comes later']);
  rmSync(folder, { recursive: true });
  await expect
    .poll(() => {
      leaveRequest(folder, 'third', 'into a new folder');
      return taken;
    })
    .toContain('into a new folder');
});
