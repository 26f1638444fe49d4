import { closeSync, fstatSync, readSync, writeSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { unnamedFile } from './unnamed-file.js';

let descriptor: number | undefined;
afterEach(() => {
  if (descriptor !== undefined) closeSync(descriptor);
  descriptor = undefined;
});

function textFromHere(file: number): string {
  const bytes = Buffer.alloc(100);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, null));
}

describe('a file without a name', () => {
  it('has its text before the place at which its reader begins', () => {
    descriptor = unnamedFile('one line\n');
    expect(textFromHere(descriptor)).toBe('one line\n');
  });

  it('can be written, and is found by nobody', () => {
    descriptor = unnamedFile('');
    writeSync(descriptor, 'said', 0);
    expect(fstatSync(descriptor)).toMatchObject({ nlink: 0, size: 4 });
    expect(fstatSync(descriptor).mode & 0o777).toBe(0o600);
  });
});
