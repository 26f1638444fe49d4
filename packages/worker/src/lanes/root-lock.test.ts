import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RootLock, rootKey } from './root-lock.js';

let state: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'codelanes-lock-'));
});
afterEach(() => {
  rmSync(state, { recursive: true });
});

describe('the lock of a root', () => {
  it('belongs to one worker; the second is refused with the pid of the first', () => {
    const root = statSync(state, { bigint: true });
    const lock = RootLock.take(state, root, state);
    expect(() => RootLock.take(state, root, state)).toThrow(`pid ${process.pid}`);
    lock.close();
    RootLock.take(state, root, state).close();
  });

  it('is one for two paths to the same folder, and another for another folder', () => {
    symlinkSync('.', join(state, 'link'));
    const lock = RootLock.take(state, statSync(state, { bigint: true }), state);
    const link = join(state, 'link');
    expect(() => RootLock.take(state, statSync(link, { bigint: true }), link)).toThrow('Another worker');
    RootLock.take(state, statSync(tmpdir(), { bigint: true }), tmpdir()).close();
    lock.close();
  });

  it('is free again as soon as its holder was killed', async () => {
    const root = statSync(state, { bigint: true });
    RootLock.take(state, root, state).close();
    const file = join(state, 'locks', rootKey(root));
    const holder = spawn('flock', ['-x', '-o', file, 'sh', '-c', 'echo on; exec sleep 60'], {
      stdio: 'pipe',
      detached: true,
    });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    expect(() => RootLock.take(state, root, state)).toThrow('Another worker');
    const ended = new Promise((resolve) => holder.once('exit', resolve));
    process.kill(-(holder.pid ?? 0), 'SIGKILL');
    await ended;
    RootLock.take(state, root, state).close();
  });

  it('is not inherited by processes that the worker starts', () => {
    const lock = RootLock.take(state, statSync(state, { bigint: true }), state);
    const { stdout } = spawnSync('ls', ['-l', '/proc/self/fd'], { encoding: 'utf8' });
    expect(stdout).not.toContain(state);
    lock.close();
  });
});
