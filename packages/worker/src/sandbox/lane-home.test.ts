import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Directory } from '../files/directory.js';
import { laneHome, removeRetiredHomes } from './lane-home.js';
import { removeTree } from './remove-tree.js';

let state: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'codelanes-homes-'));
});
afterEach(() => {
  rmSync(state, { recursive: true, force: true });
});

const homes = () => readdirSync(join(state, 'homes'));
/** Homes are removed in the background, with all that was put there. */
const untilOnly = (count: number) => expect.poll(homes).toHaveLength(count);

it('keeps the home of a lane while the same tree stands there', () => {
  const home = laneHome(state, { lane: 'a', tree: '1' });
  writeFileSync(join(home, 'note'), 'kept');
  expect(laneHome(state, { lane: 'a', tree: '1' })).toBe(home);
  expect(readdirSync(home)).toEqual(['note']);
});

it('gives another tree of that lane an empty home, and removes the old one only', async () => {
  const old = laneHome(state, { lane: 'a', tree: '1' });
  const sibling = laneHome(state, { lane: 'b', tree: '1' });
  writeFileSync(join(old, '.bashrc'), 'echo planted');
  const home = laneHome(state, { lane: 'a', tree: '2' });
  expect(readdirSync(home)).toEqual([]);
  expect(existsSync(old)).toBe(false);
  await untilOnly(2);
  expect(laneHome(state, { lane: 'b', tree: '1' })).toBe(sibling);
});

it('does not give a home back to a tree that had it once', async () => {
  writeFileSync(join(laneHome(state, { lane: 'a', tree: '1' }), 'note'), 'old');
  laneHome(state, { lane: 'a', tree: '2' });
  expect(readdirSync(laneHome(state, { lane: 'a', tree: '1' }))).toEqual([]);
  await untilOnly(1);
});

it('removes what its commands closed, nested deeper than a path is long, and linked elsewhere', async () => {
  const old = laneHome(state, { lane: 'a', tree: '1' });
  const outside = join(state, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'file'), 'x');
  const script = `ln -s ${outside} link; mkdir -p shut/in; chmod 555 shut/in shut .
    for n in $(seq 60); do mkdir ${'d'.repeat(100)} 2>/dev/null || { chmod 755 . && mkdir ${'d'.repeat(100)}; }; cd -P ${'d'.repeat(100)}; done`;
  execFileSync('bash', ['-c', script], { cwd: old });
  laneHome(state, { lane: 'a', tree: '2' });
  await untilOnly(1);
  expect(readdirSync(outside)).toEqual(['file']);
});

it('removes at the next start what an earlier worker had begun to remove', async () => {
  const home = laneHome(state, { lane: 'a', tree: '1' });
  mkdirSync(join(state, 'homes', `removed-${'0'.repeat(32)}`, 'cache'), { recursive: true });
  const parent = Directory.open(join(state, 'homes'));
  mkdirSync(join(state, 'homes', 'deep', 'deeper', 'deepest'), { recursive: true });
  expect(removeTree(parent, 'deep', 1)).toBe(false);
  parent.close();
  expect(homes().length).toBeGreaterThan(2);
  await removeRetiredHomes(state);
  expect(homes().map((name) => join(state, 'homes', name))).toEqual([home]);
  await removeRetiredHomes(join(state, 'nothing'));
});
