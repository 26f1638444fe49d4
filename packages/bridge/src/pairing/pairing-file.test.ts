import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MemoryPairingStore } from './memory-pairing-store.js';
import { PairingFile } from './pairing-file.js';
import { Pairings } from './pairings.js';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codelanes-pairing-file-'));
  path = join(folder, 'pairings.json');
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

function open() {
  return MemoryPairingStore.open(new PairingFile(path));
}

it('is its owner’s alone, leaves nothing beside it, and holds no code', async () => {
  const pairings = new Pairings(await open());
  const { code } = await pairings.offer('laptop', undefined);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['pairings.json']);
  expect(await readFile(path, 'utf8')).not.toContain(code);
});

it.each([
  ['that others may read', '{"version":1,"records":{}}', 0o644, /open to others/],
  ['of another version', '{"version":2,"records":{}}', 0o600, /cannot be understood/],
  ['that was cut off', '{"version":1,"rec', 0o600, /cannot be understood/],
])('is not used where it is one %s', async (_, text, mode, why) => {
  await writeFile(path, text);
  await chmod(path, mode);
  await expect(open()).rejects.toThrow(why);
});

it('holds every change that was told as made, whatever fails after it', async () => {
  const store = await open();
  await store.replace({ worker: 'a' }, undefined, 'one', 60_000);
  await rm(folder, { recursive: true });
  await expect(store.replace({ worker: 'a' }, 'one', 'two', 60_000)).rejects.toThrow(/ENOENT/);
  // What could not be kept was not done.
  expect(await store.read({ worker: 'a' })).toBe('one');
  folder = await mkdtemp(join(tmpdir(), 'codelanes-pairing-file-'));
});
