import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Cli } from './rig/cli.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-of-demo-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('shows that lanes run side by side, that the checkout waits for them, and that the wall holds, and leaves nothing', async () => {
  const { status, stdout } = await Cli.run(['demo', '--pace', '2'], { environment: { TMPDIR: folder } });
  expect(stdout).not.toContain('NOT TRUE');
  expect(stdout.match(/^✓ .*$/gmu)).toEqual([
    '✓ The commands in .worktrees/a and .worktrees/b ran at the same time.',
    '✓ The command on the whole checkout waited for both.',
    '✓ Newer calls did not overtake it, though lane b and a slot were free.',
    '✓ Then both lanes ran side by side again.',
    '✓ A command in .worktrees/a that wrote to .worktrees/b failed, and nothing was written.',
    '✓ Without lanes the same five calls ran one after another.',
  ]);
  expect(stdout.trimEnd()).toMatch(/Lanes were \d+\.\d\d times as fast\.$/u);
  expect(status).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
}, 280_000);
