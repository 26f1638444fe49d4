import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LaneFixture } from '../commands/testing/lane-fixture.js';
import { meetClosedFolders } from '../files/testing/closed-folders.js';
import { clearIndexLock } from './index-lock.js';

describe('clearing the index lock of a killed Git', () => {
  let folder: string;
  let descriptor: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'codelanes-lock-'));
    mkdirSync(join(folder, 'git'));
    descriptor = openSync(join(folder, 'git'), constants.O_RDONLY | constants.O_DIRECTORY);
  });
  afterEach(() => {
    closeSync(descriptor);
    rmSync(folder, { recursive: true });
  });

  it('removes a lock and says so', () => {
    writeFileSync(join(folder, 'git', 'index.lock'), '');
    expect(clearIndexLock(descriptor)).toBe(true);
    expect(existsSync(join(folder, 'git', 'index.lock'))).toBe(false);
  });

  it('leaves it where the killed command has closed the folder to the worker', () => {
    meetClosedFolders();
    writeFileSync(join(folder, 'git', 'index.lock'), '');
    chmodSync(join(folder, 'git'), 0);
    expect(clearIndexLock(descriptor)).toBe(false);
    chmodSync(join(folder, 'git'), 0o755);
  });

  it('does nothing where there is none', () => {
    expect(clearIndexLock(descriptor)).toBe(false);
  });

  it('leaves a link and a folder of that name alone', () => {
    writeFileSync(join(folder, 'outside'), 'kept');
    symlinkSync('../outside', join(folder, 'git', 'index.lock'));
    expect(clearIndexLock(descriptor)).toBe(false);
    expect(lstatSync(join(folder, 'git', 'index.lock')).isSymbolicLink()).toBe(true);
    expect(existsSync(join(folder, 'outside'))).toBe(true);
    rmSync(join(folder, 'git', 'index.lock'));
    mkdirSync(join(folder, 'git', 'index.lock'));
    expect(clearIndexLock(descriptor)).toBe(false);
  });

  it('makes a lane usable again whose Git was killed', async () => {
    const fixture = new LaneFixture(['a']);
    const lane = fixture.openWorktree('a');
    try {
      const run = await fixture.run(lane, 'touch "$CODELANES_GIT_METADATA/index.lock"; sleep 60', {
        timeoutMs: 6_000,
        graceMs: 0,
      });
      expect(run.timedOut).toBe(true);
      expect((await fixture.run(lane, 'git add .')).exitCode).toBe(128);
      expect(clearIndexLock(lane.descriptors.metadata)).toBe(true);
      expect((await fixture.run(lane, 'git add .')).exitCode).toBe(0);
    } finally {
      lane.close();
      fixture.remove();
    }
  });
});
