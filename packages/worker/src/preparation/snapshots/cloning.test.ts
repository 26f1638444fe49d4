import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Directory } from '../../files/directory.js';
import { CloningFolder } from '../testing/cloning-folder.js';
import { tryCloning } from './cloning.js';

const disk = CloningFolder.forTests();
const at = (path: string) => join(disk().path, path);
const opened: Directory[] = [];

beforeEach(() => {
  for (const folder of ['root', 'store']) {
    mkdirSync(at(folder));
    opened.push(Directory.open(at(folder)));
  }
  writeFileSync(at('root/lock'), 'one');
});
afterEach(() => {
  for (const folder of opened.splice(0)) folder.close();
  for (const folder of ['root', 'store']) rmSync(at(folder), { recursive: true });
});

function tried(): bigint {
  const [root, store] = opened;
  if (root === undefined || store === undefined) throw new Error('Both are open while a test runs.');
  const trial = tryCloning(root, 'lock', store);
  if (!trial.can) throw new Error(trial.sentence);
  return trial.now;
}

function bornNow(name: string): bigint {
  writeFileSync(at(name), 'made');
  return statSync(at(name), { bigint: true }).birthtimeNs;
}

it('parts what was made a moment before it from what is made a moment after it', () => {
  for (let round = 0; round < 20; round += 1) {
    const planted = bornNow(`root/planted-${round}`);
    const now = tried();
    const made = bornNow(`root/made-${round}`);
    expect([planted < now, made >= now]).toEqual([true, true]);
  }
});

it('leaves nothing in the store', () => {
  tried();
  expect(readdirSync(at('store'))).toEqual([]);
});
