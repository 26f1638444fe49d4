import { chmodSync, linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadDefinition } from './load-definition.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-env-'));
  file = join(folder, 'env.yaml');
  writeFileSync(file, 'name: primary\nroot: src\n', { mode: 0o644 });
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('loadDefinition', () => {
  it('resolves the root against the folder of the file', () => {
    expect(loadDefinition(file)).toMatchObject({ name: 'primary', root: join(folder, 'src'), file });
  });

  it('refuses a file that others may write', () => {
    chmodSync(file, 0o666);
    expect(() => loadDefinition(file)).toThrow(/chmod go-w/);
  });

  it('refuses a file with a second name, which could be written through that', () => {
    linkSync(file, join(folder, 'other.yaml'));
    expect(() => loadDefinition(file)).toThrow(/hard link/);
  });

  it('refuses a symbolic link', () => {
    symlinkSync(file, join(folder, 'link.yaml'));
    expect(() => loadDefinition(join(folder, 'link.yaml'))).toThrow(/symbolic link/);
  });

  it('refuses a pipe without waiting for its writer', () => {
    execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
    expect(() => loadDefinition(join(folder, 'pipe.yaml'))).toThrow(/not a regular file/);
  });

  it('takes 64 KiB and refuses one byte more', () => {
    const start = 'name: primary\nroot: src\n#';
    writeFileSync(file, start + 'x'.repeat(65_536 - start.length));
    expect(loadDefinition(file).name).toBe('primary');
    writeFileSync(file, start + 'x'.repeat(65_537 - start.length));
    expect(() => loadDefinition(file)).toThrow(/65536 bytes/);
  });

  it('refuses what is not UTF-8', () => {
    writeFileSync(file, Buffer.from([0x6e, 0xff, 0x3a]));
    expect(() => loadDefinition(file)).toThrow(/UTF-8/);
  });

  it('refuses a file that is not there', () => {
    expect(() => loadDefinition(join(folder, 'none.yaml'))).toThrow(/cannot be opened/);
  });
});
