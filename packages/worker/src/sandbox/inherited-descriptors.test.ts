import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

describe('descriptors that the worker inherited', () => {
  it('are closed, and its own are kept [S4: 23]', () => {
    const source = readFileSync(new URL('inherited-descriptors.ts', import.meta.url), 'utf8');
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    const script = `${outputText}
      import { openSync, readlinkSync } from 'node:fs';
      import { spawnSync } from 'node:child_process';
      const own = openSync('/etc/hostname', 'r');
      const listed = () => spawnSync('/bin/sh', ['-c', 'ls -l /proc/self/fd'], { encoding: 'utf8' }).stdout.includes('/etc/passwd');
      const before = listed();
      closeInheritedDescriptors();
      console.log(before, listed(), readlinkSync('/proc/self/fd/' + own));`;
    // Node closes the first few by itself, so the shell hands over one that lies far behind.
    const said = execFileSync(
      '/bin/bash',
      ['-c', 'exec 251</etc/passwd; exec "$0" --input-type=module -e "$1"', process.execPath, script],
      {
        encoding: 'utf8',
      },
    );
    expect(said).toBe('true false /etc/hostname\n');
  });
});
