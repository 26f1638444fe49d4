import { describe, expect, it } from 'vitest';
import { limits } from '../limits.js';
import { isHandedBack, scriptFilesSchema } from './script-files.js';

const accepts = (...files: { name: string; content?: string }[]) =>
  scriptFilesSchema.safeParse(files.map(({ name, content = '' }) => ({ name, content }))).success;

describe('the files of a script', () => {
  it('have plain names that lead nowhere else', () => {
    expect(accepts({ name: 'a.txt' }, { name: 'deep/b' })).toBe(true);
    for (const name of ['../a', '/a', 'a/../b', 'a\\b', 'a\nb', '', '.', 'a//b']) {
      expect(accepts({ name })).toBe(false);
    }
  });

  it('bear no name that scripts reserve', () => {
    for (const name of ['main.sh', 'MAIN.SH', '_ptc_history.json', 'x/_PTC_pending_result.json']) {
      expect(accepts({ name })).toBe(false);
    }
    expect(accepts({ name: 'tools/main.sh' })).toBe(true);
  });

  it('have names of their own, and none lies in another', () => {
    expect(accepts({ name: 'a' }, { name: 'a' })).toBe(false);
    expect(accepts({ name: 'a/b' }, { name: 'a' })).toBe(false);
    expect(accepts({ name: 'a/b' }, { name: 'ab' })).toBe(true);
  });

  it('are Base64, and bounded each, in number and together', () => {
    const content = (bytes: number) => Buffer.alloc(bytes).toString('base64');
    for (const text of ['a', 'ab=', '====', 'a*==', 'YQ']) {
      expect(accepts({ name: 'a', content: text })).toBe(false);
    }
    expect(accepts({ name: 'a', content: content(limits.programmaticFileBytes) })).toBe(true);
    expect(accepts({ name: 'a', content: content(limits.programmaticFileBytes + 1) })).toBe(false);
    const half = content(limits.programmaticTotalBytes / 2);
    expect(accepts({ name: 'a', content: half }, { name: 'b', content: half })).toBe(true);
    expect(
      accepts({ name: 'a', content: half }, { name: 'b', content: half }, { name: 'c', content: 'YQ==' }),
    ).toBe(false);
    const many = Array.from({ length: limits.programmaticFiles + 1 }, (_, index) => ({
      name: String(index),
    }));
    expect(accepts(...many)).toBe(false);
  });
});

it('hands back files by extension or whole name', () => {
  for (const name of ['a.csv', 'x/a.PNG', 'Dockerfile', '.gitignore', 'a.tar.gz'])
    expect(isHandedBack(name)).toBe(true);
  for (const name of ['a', 'a.exe', 'a.bin', 'csv.', 'main.sh', '_ptc_history.json']) {
    expect(isHandedBack(name)).toBe(false);
  }
});
