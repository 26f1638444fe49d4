import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TemporaryLane } from './testing/temporary-lane.js';

let lane: TemporaryLane;
beforeEach(() => {
  lane = new TemporaryLane();
});
afterEach(() => {
  lane.remove();
});

const write = (path: string, content: string, overwrite?: boolean) =>
  lane.run({ operation: 'write_file', path, content, ...(overwrite === undefined ? {} : { overwrite }) });

describe('write_file', () => {
  it('creates a file and the directories above it', async () => {
    expect(await write('a/b/c.txt', 'ä\r\n', false)).toMatchObject({ created: true, bytesWritten: 4 });
    expect(lane.get('a/b/c.txt')).toBe('ä\r\n');
    expect(readdirSync(join(lane.path, 'a/b'))).toEqual(['c.txt']);
  });

  it.each([true, undefined])(
    'replaces a file with overwrite %s and keeps its permissions',
    async (overwrite) => {
      lane.put('f', 'old');
      chmodSync(join(lane.path, 'f'), 0o751);
      expect(await write('f', 'new', overwrite)).toMatchObject({ created: false, bytesWritten: 3 });
      expect(lane.get('f')).toBe('new');
      expect(statSync(join(lane.path, 'f')).mode & 0o777).toBe(0o751);
    },
  );

  it('refuses to create what exists, and leaves it', async () => {
    lane.put('f', 'old');
    const fields = { operation: 'write_file', path: 'f', content: 'new', overwrite: false } as const;
    expect((await lane.refusal(fields)).code).toBe('EDIT_CONFLICT');
    expect(lane.get('f')).toBe('old');
  });

  it('lets one of many that create the same file succeed', async () => {
    const attempts = Array.from({ length: 8 }, (_, index) => write('new/f', `by ${index}`, false));
    const settled = await Promise.allSettled(attempts);
    const winner = settled.findIndex(({ status }) => status === 'fulfilled');
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(lane.get('new/f')).toBe(`by ${winner}`);
    expect(readdirSync(join(lane.path, 'new'))).toEqual(['f']);
  });

  it('has the write journalled, with the path after links, before anything is on disk', async () => {
    mkdirSync(join(lane.path, 'real'));
    symlinkSync('real', join(lane.path, 'link'));
    const seen: boolean[] = [];
    await lane.run(
      { operation: 'write_file', path: 'link/f', content: 'x' },
      {
        beforeWrite: ({ path, temporary }) => {
          expect(path).toBe('real/f');
          seen.push(existsSync(join(lane.path, path)));
          seen.push(existsSync(join(lane.path, dirname(path), temporary)));
          return Promise.resolve();
        },
      },
    );
    expect(seen).toEqual([false, false]);
    expect(lane.get('real/f')).toBe('x');
  });

  it('writes nothing where the journal refuses', async () => {
    const refused = lane.run(
      { operation: 'write_file', path: 'a/f', content: 'x' },
      { beforeWrite: () => Promise.reject(new Error('started before')) },
    );
    await expect(refused).rejects.toThrow('started before');
    expect(readdirSync(lane.path)).toEqual([]);
  });

  it('is not begun once its signal is aborted', async () => {
    const fields = { operation: 'write_file', path: 'f', content: 'x' } as const;
    const refusal = await lane.refusal(fields, { signal: AbortSignal.abort() });
    expect(refusal.code).toBe('EXECUTION_ABORTED');
    expect(readdirSync(lane.path)).toEqual([]);
  });

  it.each(['link/f', 'link/new/f', 'file'])(
    '[T31] refuses "%s", which leads out of the lane',
    async (path) => {
      mkdirSync(join(lane.folder, 'main'));
      writeFileSync(join(lane.folder, 'main/f'), 'theirs');
      symlinkSync('../main', join(lane.path, 'link'));
      symlinkSync('../main/f', join(lane.path, 'file'));
      const refusal = await lane.refusal({ operation: 'write_file', path, content: 'mine' });
      expect(refusal.code).toBe('INVALID_PATH');
      expect(refusal.message).toContain('primary/.worktrees/a');
      expect(readdirSync(join(lane.folder, 'main'))).toEqual(['f']);
      expect(lane.planned).toEqual([]);
    },
  );

  it.each(['.git', '.git/hooks/pre-commit', '.GIT/config', 'sub/.Git/config', 'to-git/config', '.git./x'])(
    'never touches Git storage by the path "%s"',
    async (path) => {
      lane.put('.git/config', 'old');
      symlinkSync('.git', join(lane.path, 'to-git'));
      const refusal = await lane.refusal({ operation: 'write_file', path, content: 'mine' });
      expect(refusal.code).toBe('INVALID_PATH');
      expect(refusal.message).toContain('git command');
      expect(readdirSync(join(lane.path, '.git'))).toEqual(['config']);
      expect(lane.get('.git/config')).toBe('old');
    },
  );

  it('refuses what is not a file, and a parent that is none', async () => {
    lane.put('d/f');
    const code = async (path: string) =>
      (await lane.refusal({ operation: 'write_file', path, content: '' })).code;
    expect(await code('d')).toBe('INVALID_PATH');
    expect(await code('d/f/x')).toBe('INVALID_PATH');
  });

  it('says of a name that the file system does not take that the write is not possible', async () => {
    const refusal = await lane.refusal({ operation: 'write_file', path: 'x'.repeat(300), content: '' });
    expect(refusal.code).toBe('WRITE_UNAVAILABLE');
  });
});
