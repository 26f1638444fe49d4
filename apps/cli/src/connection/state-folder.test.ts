import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ensureStateFolder } from './state-folder.js';
import { ensureTokens, tokenFiles } from './tokens.js';

let folder: string;
let state: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codelanes-state-'));
  state = join(folder, 'state');
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

it('is made closed to everybody else, and taken again', async () => {
  await ensureStateFolder(state);
  await ensureStateFolder(state);
  expect((await stat(state)).mode & 0o777).toBe(0o700);
});

it('is refused by its name where a file stands in its place or above it', async () => {
  await writeFile(state, '');
  for (const taken of [state, join(state, 'below')]) {
    await expect(ensureStateFolder(taken)).rejects.toMatchObject({
      message: `The state folder ${taken} cannot be made: a file is in the way.`,
      next: expect.stringContaining('--state') as string,
    });
  }
});

it.each([0o777, 0o770, 0o1777, 0o702])(
  'is refused with mode %o, as tokens in it may be somebody else’s',
  async (mode) => {
    await mkdir(join(state, 'tokens'), { recursive: true });
    await writeFile(tokenFiles(state).worker, 'known-to-somebody-else\n');
    await chmod(state, mode);
    await expect(ensureStateFolder(state)).rejects.toThrow('may be written by others');
    // What is there would be used.
    expect((await ensureTokens(state)).worker).toBe('known-to-somebody-else');
  },
);
