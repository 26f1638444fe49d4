import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RipgrepFailure, walkWithRipgrep, type RipgrepWalk } from './ripgrep.js';
import { TemporaryLane } from './testing/temporary-lane.js';

let lane: TemporaryLane;
beforeEach(() => {
  lane = new TemporaryLane();
});
afterEach(() => {
  lane.remove();
});

/** A program in the place of ripgrep. */
function program(text: string): string {
  const path = join(lane.folder, 'rg');
  writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return path;
}

async function walk(changes: Partial<RipgrepWalk>): Promise<string[]> {
  const { directory, ripgrep, signal } = lane.context();
  const paths: string[] = [];
  await walkWithRipgrep(
    {
      executable: ripgrep,
      directory,
      hidden: [],
      arguments: ['--files'],
      signal,
      deadline: performance.now() + 50_000,
      ...changes,
    },
    (path) => paths.push(path),
  );
  return paths;
}

async function failure(changes: Partial<RipgrepWalk>): Promise<string> {
  try {
    await walk(changes);
  } catch (error) {
    if (error instanceof RipgrepFailure) return error.kind;
    throw error;
  }
  return 'none';
}

describe('walkWithRipgrep', () => {
  it('is killed at its deadline', async () => {
    const executable = program('exec sleep 60');
    expect(await failure({ executable, deadline: performance.now() + 50 })).toBe('timeout');
  });

  it('says that a program is missing', async () => {
    expect(await failure({ executable: undefined })).toBe('unavailable');
    expect(await failure({ executable: '/nowhere/rg' })).toBe('unavailable');
  });

  it('does not begin once its signal is aborted', async () => {
    const executable = program('exec sleep 60');
    const walking = walk({ executable, signal: AbortSignal.abort(new Error('stopped')) });
    await expect(walking).rejects.toThrow('stopped');
  });

  it('[T66] keeps names whole wherever its chunks end', async () => {
    const executable = program(
      `printf './a\\344'; printf './b'; sleep 0.05; printf 'c\\303'; sleep 0.05; printf '\\244\\000./d\\000'`,
    );
    expect(await walk({ executable })).toEqual(['d']);
    const halved = program(
      `printf './b\\303'; sleep 0.05; printf '\\244\\000./c'; sleep 0.05; printf '\\000'`,
    );
    expect(await walk({ executable: halved })).toEqual(['bä', 'c']);
  });

  it('hands over what was found where a part may not be read', async () => {
    const executable = program(`printf './a\\000'; exit 2`);
    expect(await walk({ executable })).toEqual(['a']);
  });

  it('walks the directory that was opened, whatever its path leads to by then', async () => {
    lane.put('here');
    const executable = program('pwd -P | tr "\\n" "\\000"');
    expect(await walk({ executable })).toEqual([lane.path]);
    expect(await walk({})).toEqual(['here']);
  });

  it('is given no environment of the worker', async () => {
    process.env['CODELANES_SECRET'] = 'secret';
    try {
      const executable = program('printf "%s\\000" "$CODELANES_SECRET."');
      expect(await walk({ executable })).toEqual(['.']);
    } finally {
      delete process.env['CODELANES_SECRET'];
    }
  });
});
