import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Directory } from './directory.js';
import { inspect, openDirectory, readFile } from './read.js';
import { resolve } from './resolve.js';

let folder: string;
let top: Directory;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-resolve-')));
  mkdirSync(join(folder, 'lane/deep/er'), { recursive: true });
  writeFileSync(join(folder, 'secret'), 'secret');
  writeFileSync(join(folder, 'lane/CLAUDE.md'), 'rules');
  top = Directory.open(join(folder, 'lane'));
});
afterEach(() => {
  top.close();
  rmSync(folder, { recursive: true });
});

const link = (text: string, at: string): void => {
  symlinkSync(text, join(folder, 'lane', at));
};
const pathOf = (relative: string): string => {
  const found = resolve(top, relative);
  found.close();
  return found.path;
};

describe('links inside a lane', () => {
  it('are followed to wherever they lead inside it', () => {
    link('CLAUDE.md', 'AGENTS.md');
    link('../../CLAUDE.md', 'deep/er/up.md');
    link(join(folder, 'lane', 'CLAUDE.md'), 'deep/absolute.md');
    link('./deep//er/', 'short');
    expect(pathOf('AGENTS.md')).toBe('CLAUDE.md');
    expect(pathOf('deep/er/up.md')).toBe('CLAUDE.md');
    expect(pathOf('deep/absolute.md')).toBe('CLAUDE.md');
    expect(pathOf('short/up.md')).toBe('CLAUDE.md');
    expect(pathOf('short/new/file')).toBe('deep/er/new/file');
  });

  it('may end at a directory that the walk came through, but not at the lane itself', () => {
    link('..', 'deep/er/parent');
    expect(inspect(top, 'deep/er/parent')).toMatchObject({ kind: 'directory', path: 'deep' });
    link('..', 'deep/top');
    expect(() => pathOf('deep/top')).toThrow(expect.objectContaining({ fault: 'symlink' }));
  });

  it.each([
    ['../secret', 'climbs'],
    ['deep/../../secret', 'climbs later'],
    ['/etc/passwd', 'is absolute'],
    ['/proc/self/root', 'is magic'],
  ])('[T31] are refused when the text %j %s', async (text) => {
    link(text, 'out');
    await expect(readFile(top, 'out', { maxBytes: 100 })).rejects.toMatchObject({ fault: 'outside' });
  });

  it('are not taken for inside because a sibling’s name begins with the lane’s', async () => {
    mkdirSync(join(folder, 'lane2'));
    writeFileSync(join(folder, 'lane2/f'), 'sibling');
    link(join(folder, 'lane2/f'), 'sibling');
    await expect(readFile(top, 'sibling', { maxBytes: 100 })).rejects.toMatchObject({ fault: 'outside' });
  });

  it('are refused when they never end', () => {
    link('loop', 'loop');
    expect(() => pathOf('loop')).toThrow(expect.objectContaining({ fault: 'symlink' }));
    for (let hop = 0; hop < 9; hop += 1) link(`hop${hop + 1}`, `hop${hop}`);
    writeFileSync(join(folder, 'lane/hop9'), '');
    expect(pathOf('hop1')).toBe('hop9');
    expect(() => pathOf('hop0')).toThrow(expect.objectContaining({ fault: 'symlink' }));
  });

  it('leave no descriptor open, however they end', () => {
    link('../secret', 'out');
    link('deep/er', 'in');
    link('loop', 'loop');
    const before = readdirSync('/proc/self/fd').length;
    pathOf('in/x');
    openDirectory(top, 'in').close();
    for (const path of ['out', 'loop', 'CLAUDE.md/x', 'in/../x']) expect(() => pathOf(path)).toThrow();
    expect(readdirSync('/proc/self/fd')).toHaveLength(before);
  });
});
