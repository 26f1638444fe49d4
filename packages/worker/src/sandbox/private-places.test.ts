import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { privatePlaces } from './private-places.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-private-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('finds files and folders that not everybody may read, each folder with all that is in it', () => {
  mkdirSync(join(folder, 'open', 'closed', 'inner'), { recursive: true });
  for (const name of ['public', 'open/secret', 'open/closed/any', 'empty']) {
    writeFileSync(join(folder, name), name === 'empty' ? '' : 'text');
  }
  symlinkSync('public', join(folder, 'link'));
  for (const [name, mode] of Object.entries({ 'open/secret': 0o640, 'open/closed': 0o750, empty: 0o600 })) {
    chmodSync(join(folder, name), mode);
  }
  expect(privatePlaces(folder)).toEqual({
    files: [join(folder, 'open/secret')],
    directories: [join(folder, 'open/closed')],
  });
});
