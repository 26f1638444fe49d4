import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { MachineLock } from './machine-lock.js';
import { rootKey } from './root-lock.js';

const root = { dev: 4_294_967_295n, ino: BigInt(process.pid) };
/** The same device in every run of these tests; the numbers on it and the paths are this one's own. */
const place = (path: string) => `/of-${process.pid}${path}`;
const another = (kind: bigint) => ({ ...root, ino: (kind << 32n) + root.ino });

it('is held by one only, and free for the next when it is released', async () => {
  const first = await MachineLock.take(root, place('/repository'));
  await expect(MachineLock.take(root, place('/repository'))).rejects.toThrow(
    /Another worker.*\/repository".*stop it first/,
  );
  first.close();
  const next = await MachineLock.take(root, place('/repository'));
  next.close();
});

it('holds apart roots that differ in device or inode', async () => {
  const locks = [
    await MachineLock.take(root, place('/one')),
    await MachineLock.take({ ...root, dev: 1n }, place('/other')),
    await MachineLock.take(another(1n), place('/another')),
  ];
  await expect(MachineLock.take(root, place('/one'))).rejects.toThrow('Another worker');
  for (const lock of locks) lock.close();
});

it('refuses a folder in one that is held, and one that holds it, but none beside it', async () => {
  const held = await MachineLock.take(root, place('/srv/repository'));
  for (const path of ['/srv/repository/.worktrees/a', '/srv']) {
    await expect(MachineLock.take(another(7n), place(path))).rejects.toThrow(
      /\/srv\/repository", which overlaps/,
    );
  }
  const beside = await MachineLock.take(another(7n), place('/srv/repository-two'));
  held.close();
  beside.close();
});

it('refuses to start beside a stopped worker that cannot say what it holds, and starts once that goes on or ends', async () => {
  const name = `\\0codelanes/root/${rootKey(another(9n))}`;
  const holder = spawn(process.execPath, [
    '-e',
    `require('node:net').createServer((c) => c.end('/elsewhere')).listen('${name}', () => console.log('on'))`,
  ]);
  try {
    await once(holder.stdout, 'data');
    holder.kill('SIGSTOP');
    await expect(MachineLock.take(another(8n), place('/beside-stopped'), 100)).rejects.toThrow(
      /seems to be stopped.*kill -CONT/,
    );
    holder.kill('SIGCONT');
    (await MachineLock.take(another(8n), place('/beside-stopped'))).close();
  } finally {
    holder.kill('SIGKILL');
  }
});

it('asks a worker again that hangs up, as one does that may open no more files for a while', async () => {
  const name = `\0codelanes/root/${rootKey(another(10n))}`;
  let asked = 0;
  const holder = createServer((connection) => {
    asked += 1;
    connection.end(asked < 3 ? '' : place('/busy/repository'));
  });
  holder.listen(name);
  await once(holder, 'listening');
  try {
    await expect(MachineLock.take(another(11n), place('/busy'))).rejects.toThrow(/which overlaps/);
  } finally {
    holder.close();
  }
});
