import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { limitProcesses } from './process-limit.js';

it('bounds a process and all that it starts, where it is root and no other limit holds [S4: 25]', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'codelanes-limit-'));
  const script = `read go; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 600 & echo $i >>${folder}/made; done`;
  const shell = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'pipe'], detached: true });
  try {
    const limit = limitProcesses(shell.pid ?? 0, 5);
    // The gate's limit holds for everybody but root, who alone may make the group.
    expect(limit !== undefined).toBe(process.getuid?.() === 0);
    if (limit === undefined) return;
    const refusal = text(shell.stderr);
    const ended = once(shell, 'exit');
    shell.stdin.end('go\n');
    await ended;
    process.kill(-(shell.pid ?? 0), 'SIGKILL');
    expect(await refusal).toMatch(/fork/);
    expect(readFileSync(join(folder, 'made'), 'utf8').trim().split('\n')).toHaveLength(4);
    await expect.poll(() => isLeft(limit.group)).toBe(false);
  } finally {
    shell.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
});

function isLeft(group: string): boolean {
  try {
    rmdirSync(group);
  } catch {
    // Its members are still ending.
  }
  return existsSync(group);
}
