import { spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Directory } from '../files/directory.js';
import { openLaneFolder } from './lane-folder.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-folder-'));
  mkdirSync(join(folder, 'a'));
  mkdirSync(join(folder, 'b'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('a folder of a lane', () => {
  it('[L25] [S5: other device or mount point] is refused where something is mounted on it', async () => {
    // The mount is seen only in a namespace of its own, so the test looks through that process's root.
    const script = 'mount --bind "$0" "$0" && echo on && exec sleep 60';
    const holder = spawn('unshare', ['-Urm', 'sh', '-c', script, join(folder, 'a')]);
    const said = await new Promise((resolve) => holder.stdout.once('data', resolve));
    const checkout = Directory.open(`/proc/${String(holder.pid)}/root${folder}`);
    try {
      expect(String(said)).toBe('on\n');
      expect(() => openLaneFolder(checkout, checkout, 'a')).toThrow('is a mount point');
      openLaneFolder(checkout, checkout, 'b').close();
    } finally {
      checkout.close();
      const ended = new Promise((resolve) => holder.once('exit', resolve));
      holder.kill('SIGKILL');
      await ended;
    }
  });

  it('[L25] [S5: foreign owner] belongs to the checkout’s owner or to the worker', () => {
    const self = process.geteuid?.();
    const foreign = self === 0 ? folder : '/';
    const name = self === 0 ? 'a' : 'usr';
    // Root can give a folder away; for everybody else root's own are foreign, beneath a checkout of theirs.
    if (self === 0) chownSync(join(folder, 'a'), 12345, 12345);
    const checkout = Directory.open(folder);
    const parent = Directory.open(foreign);
    try {
      expect(() => openLaneFolder(checkout, parent, name)).toThrow(/another user|mount point/);
    } finally {
      checkout.close();
      parent.close();
    }
  });
});
