import { expect, it } from 'vitest';
import { MachineLock } from './machine-lock.js';

const root = { dev: 4_294_967_295n, ino: BigInt(process.pid) };

it('is held by one only, and free for the next when it is released', async () => {
  const first = await MachineLock.take(root, '/repository');
  await expect(MachineLock.take(root, '/repository')).rejects.toThrow(
    /Another worker.*"\/repository".*stop it first/,
  );
  first.close();
  const next = await MachineLock.take(root, '/repository');
  next.close();
});

it('holds apart roots that differ in device or inode', async () => {
  const locks = [
    await MachineLock.take(root, '/one'),
    await MachineLock.take({ ...root, dev: 1n }, '/other'),
    await MachineLock.take({ ...root, ino: 1n }, '/another'),
  ];
  await expect(MachineLock.take(root, '/one')).rejects.toThrow('Another worker');
  for (const lock of locks) lock.close();
});

it('refuses a folder in one that is held, and one that holds it, but none beside it', async () => {
  const held = await MachineLock.take(root, '/srv/repository');
  for (const path of ['/srv/repository/.worktrees/a', '/srv']) {
    await expect(MachineLock.take({ ...root, ino: 7n }, path)).rejects.toThrow(
      /"\/srv\/repository", which overlaps/,
    );
  }
  const beside = await MachineLock.take({ ...root, ino: 7n }, '/srv/repository-two');
  held.close();
  beside.close();
});
