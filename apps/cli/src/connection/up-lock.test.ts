import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UpLock } from './up-lock.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codelanes-up-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

it('refuses a folder that is in use, under another path too, until it is given back', async () => {
  const link = `${folder}-link`;
  await symlink(folder, link);
  try {
    const lock = await UpLock.take(folder);
    await expect(UpLock.take(link)).rejects.toThrow('Another "codelanes up" runs');
    lock.close();
    const again = await UpLock.take(link);
    again.close();
  } finally {
    await rm(link);
  }
});

it('leaves other folders to others', async () => {
  const other = await mkdtemp(join(tmpdir(), 'codelanes-up-'));
  const lock = await UpLock.take(folder);
  try {
    const beside = await UpLock.take(other);
    expect(beside).toBeInstanceOf(UpLock);
    beside.close();
  } finally {
    lock.close();
    await rm(other, { recursive: true });
  }
});
