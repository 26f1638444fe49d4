import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { examine } from './examination.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-doctor-test-')));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const write = (...lines: readonly string[]) => {
  const file = join(folder, 'env.yaml');
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  return file;
};
const git = (...args: string[]) => execFileSync('git', args, { cwd: join(folder, 'src'), stdio: 'pipe' });

describe('examine', () => {
  it('[T39] shows the lanes of repositories beneath a root that is no checkout', async () => {
    mkdirSync(join(folder, 'src/plain'), { recursive: true, mode: 0o755 });
    git('init', '--quiet', 'agents');
    git(
      '-C',
      'agents',
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit',
      '--quiet',
      '--allow-empty',
      '--message=one',
    );
    git('-C', 'agents', 'worktree', 'add', '--quiet', '.worktrees/a');
    const { environments, faults, machine } = await examine([
      write(
        ...['name: primary', 'root: src', 'linkedWorktreeLanes: true', 'laneRouting: by-path'],
        'repositories: [{ path: agents }]',
      ),
    ]);
    expect(faults).toEqual([]);
    expect(environments).toMatchObject([
      {
        name: 'primary',
        laneRouting: 'by-path',
        root: {
          lane: 'primary',
          worktrees: {
            offered: false,
            why: 'It is no checkout; its repositories have lanes of their own.',
          },
        },
        repositories: [
          {
            lane: 'primary/agents',
            folder: join(folder, 'src/agents'),
            worktrees: { offered: true, verified: ['a'], refused: [] },
          },
        ],
      },
    ]);
    expect(machine.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(['git', 'ripgrep', 'flock', 'sandbox']),
    );
  });

  it('is not content with a definition that is wrong, and looks at the machine nevertheless', async () => {
    const file = write('name: primary', 'root: src', 'netwrk: none');
    const { ok, faults, environments, machine } = await examine([file]);
    expect(ok).toBe(false);
    expect(faults).toMatchObject([{ file, line: 3, column: 1, key: 'netwrk' }]);
    expect(environments).toEqual([]);
    expect(machine).not.toEqual([]);
  });

  it('says that setup runs in full where snapshots were asked for and files cannot be cloned', async () => {
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'src/package-lock.json'), '{}');
    // In memory: a file system that cannot clone.
    const store = mkdtempSync('/dev/shm/codelanes-store-');
    onTestFinished(() => {
      rmSync(store, { recursive: true });
    });
    const { ok, environments } = await examine([
      write(
        'name: primary',
        'root: src',
        'setup:',
        '  command: npm ci',
        '  reuse:',
        '    inputs: [package-lock.json]',
        '    checkCommand: "true"',
        `    snapshot: { store: ${store}, paths: [node_modules] }`,
        'storage: { minFreeBytes: 9007199254740991, setupReserveBytes: 0 }',
      ),
    ]);
    const [cloning, disk, ...keys] = environments[0]?.findings ?? [];
    expect(cloning).toMatchObject({ subject: 'snapshots', verdict: 'limited' });
    expect(cloning?.sentence).toContain('cannot be cloned');
    expect(cloning?.sentence).toContain('setup runs in full');
    expect(disk).toMatchObject({ subject: 'disk', verdict: 'limited' });
    expect(disk?.sentence).toContain('setup is put off');
    // The worker starts with them.
    expect(keys).toEqual([]);
    expect(ok).toBe(true);
  });
});
