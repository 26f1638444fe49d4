import { execFileSync } from 'node:child_process';
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
import { Directory, segmentsOf } from './directory.js';

let folder: string;
let top: Directory;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-directory-')));
  top = Directory.open(folder);
});
afterEach(() => {
  top.close();
  rmSync(folder, { recursive: true });
});

describe('a directory held by a descriptor', () => {
  it('reaches what lies beneath it, one segment at a time', () => {
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    const found = top.walk(['a', 'b']);
    expect(found.path()).toBe(join(folder, 'a/b'));
    found.close();
  });

  it('never follows a link, not even to a directory beside it', () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'link'));
    expect(() => top.child('link')).toThrow(expect.objectContaining({ fault: 'symlink' }));
    expect(() => top.walk(['link', 'x'])).toThrow(expect.objectContaining({ fault: 'symlink' }));
  });

  it('holds a pipe without opening it, and says what kind it is', () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    writeFileSync(join(folder, 'file'), '');
    expect(
      top
        .list()
        .map(({ name, kind }) => [name, kind])
        .sort(),
    ).toEqual([
      ['file', 'file'],
      ['pipe', 'other'],
    ]);
    expect(() => top.child('pipe')).toThrow(expect.objectContaining({ fault: 'not_a_directory' }));
  });

  it('refuses names that are no single segment', () => {
    for (const name of ['', '.', '..', 'a/b', 'a\0b']) {
      expect(() => top.find(name)).toThrow(expect.objectContaining({ fault: 'outside' }));
    }
    for (const path of ['/a', 'a//b', 'a/', '../a', 'a/../b', '.', '']) {
      expect(() => segmentsOf(path)).toThrow(expect.objectContaining({ fault: 'outside' }));
    }
  });

  it('leaves no descriptor open behind a refusal', () => {
    mkdirSync(join(folder, 'a'));
    writeFileSync(join(folder, 'a/file'), '');
    symlinkSync('a', join(folder, 'link'));
    const before = readdirSync('/proc/self/fd').length;
    for (const path of [['link'], ['a', 'none'], ['a', 'file', 'x'], ['none', 'x']]) {
      expect(() => top.walk(path)).toThrow();
    }
    expect(readdirSync('/proc/self/fd')).toHaveLength(before);
  });
});
