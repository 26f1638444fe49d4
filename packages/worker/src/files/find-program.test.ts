import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findProgram } from './find-program.js';

it('takes the first that may be executed on an absolute path', () => {
  const folder = mkdtempSync(join(tmpdir(), 'codelanes-program-'));
  try {
    mkdirSync(join(folder, 'plain'));
    writeFileSync(join(folder, 'plain/rg'), '');
    mkdirSync(join(folder, 'folder/rg'), { recursive: true });
    const executable = join(folder, 'rg');
    writeFileSync(executable, '#!/bin/sh\n', { mode: 0o755 });
    const searchPath = ['', '.', '/nowhere', join(folder, 'plain'), join(folder, 'folder'), folder];
    expect(findProgram('rg', searchPath.join(':'))).toBe(executable);
    expect(findProgram('rg', searchPath.slice(0, -1).join(':'))).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
