import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hostProcesses } from '../lanes/processes.js';
import { Quarantine } from '../lanes/quarantine.js';
import { listQuarantined, requestRelease, watchReleases } from './releases.js';

let state: string;
let taken: string[];
let failures: unknown[];
const stops: (() => void)[] = [];

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'codelanes-releases-'));
  taken = [];
  failures = [];
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  rmSync(state, { recursive: true, force: true });
});

const rootState = (root: string) => join(state, 'roots', root);

async function close(root: string, lane: readonly string[]): Promise<void> {
  const quarantine = await Quarantine.open(join(rootState(root), 'quarantine'), hostProcesses);
  await quarantine.add(lane, 'Something may still run.', []);
  await quarantine.close();
}

function watchRoot(root: string): void {
  stops.push(
    watchReleases(rootState(root), {
      take: (key) => taken.push(`${root} ${key}`),
      onError: (error) => failures.push(error),
    }),
  );
}

it('a release reaches the worker that closed the lane, whoever else shares the state folder', async () => {
  await close('1-1', ['one', 'worktree:a']);
  await close('1-2', ['two']);
  watchRoot('1-2');
  expect(await requestRelease(state, ['one', 'worktree:a'])).toBe(true);
  watchRoot('1-1');
  expect(await requestRelease(state, ['two'])).toBe(true);
  await expect.poll(() => taken).toEqual(['1-1 one/worktree%3Aa', '1-2 two']);
});

it('no release is left for a lane that is not closed, which would give it back when it is', async () => {
  await close('1-1', ['one']);
  expect(await requestRelease(state, ['one', 'worktree:b'])).toBe(false);
  watchRoot('1-1');
  expect(taken).toEqual([]);
  expect(await listQuarantined(state)).toMatchObject([{ lane: ['one'] }]);
});

it('a release that cannot be read is told and does no harm', () => {
  mkdirSync(join(rootState('1-1'), 'releases'), { recursive: true });
  writeFileSync(join(rootState('1-1'), 'releases', 'odd.json'), '{');
  watchRoot('1-1');
  expect(taken).toEqual([]);
  expect(failures).toHaveLength(1);
});

it('a release is taken where the folder for them was removed and made again while the worker ran', async () => {
  await close('1-1', ['one']);
  watchRoot('1-1');
  const releases = join(rootState('1-1'), 'releases');
  for (const turn of [1, 2]) {
    rmSync(releases, { recursive: true });
    await expect.poll(() => existsSync(releases)).toBe(true);
    expect(await requestRelease(state, ['one'])).toBe(true);
    await expect.poll(() => taken).toHaveLength(turn);
  }
  rmSync(releases, { recursive: true });
  expect(await requestRelease(state, ['one'])).toBe(true);
  await expect.poll(() => taken).toHaveLength(3);
  expect(failures).toEqual([]);
});
