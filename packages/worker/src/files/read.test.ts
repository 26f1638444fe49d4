import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Directory } from './directory.js';
import { openFile, readFile } from './read.js';

let folder: string;
let top: Directory;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-read-'));
  top = Directory.open(folder);
});
afterEach(() => {
  top.close();
  rmSync(folder, { recursive: true });
});

describe('reading a file', () => {
  it('returns its bytes up to the bound and refuses one more', async () => {
    writeFileSync(join(folder, 'f'), Buffer.alloc(1000, 7));
    expect((await readFile(top, 'f', { maxBytes: 1000 })).bytes).toEqual(Buffer.alloc(1000, 7));
    await expect(readFile(top, 'f', { maxBytes: 999 })).rejects.toMatchObject({ fault: 'too_large' });
  });

  it('reads a file whose size the system does not know, within the same bound', async () => {
    const proc = Directory.open('/proc/self');
    try {
      const { bytes } = await readFile(proc, 'stat', { maxBytes: 4096 });
      expect(bytes.toString()).toMatch(/^\d+ \(/);
      await expect(readFile(proc, 'stat', { maxBytes: 10 })).rejects.toMatchObject({ fault: 'too_large' });
    } finally {
      proc.close();
    }
  });

  it('refuses what is no regular file, a pipe without waiting for its other end', async () => {
    mkdirSync(join(folder, 'd'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const path of ['d', 'pipe']) {
      await expect(readFile(top, path, { maxBytes: 10 })).rejects.toMatchObject({ fault: 'not_a_file' });
    }
    await expect(readFile(top, 'none', { maxBytes: 10 })).rejects.toMatchObject({ fault: 'not_found' });
    await expect(readFile(top, 'd/none/x', { maxBytes: 10 })).rejects.toMatchObject({ fault: 'not_found' });
  });

  it('tells one version of a file from the next', () => {
    const versions = ['one', 'two'].map((text) => {
      writeFileSync(join(folder, 'f'), text);
      const file = openFile(top, 'f');
      file.close();
      return file.version;
    });
    expect(versions[0]).not.toEqual(versions[1]);
  });
});
