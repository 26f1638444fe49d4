import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareUtf8 } from '@codelanes/protocol';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TemporaryLane } from './testing/temporary-lane.js';

let lane: TemporaryLane;
beforeEach(() => {
  lane = new TemporaryLane();
});
afterEach(() => {
  lane.remove();
});

const list = (fields: { path?: string; maxResults?: number; afterPath?: string } = {}) =>
  lane.run({ operation: 'list_files', ...fields });

describe('list_files', () => {
  it('tells files in byte order of whole paths, not folder by folder', async () => {
    for (const name of ['a/b', 'a-b', 'a.txt', 'a0', 'B', 'é', '\uffee', '😀', '.hidden/x']) lane.put(name);
    const { paths, truncated } = await list();
    expect(paths).toEqual(['.hidden/x', 'B', 'a-b', 'a.txt', 'a/b', 'a0', 'é', '\uffee', '😀']);
    expect(truncated).toBe(false);
  });

  it('goes on behind its cursor until everything was told once', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `d${index % 4}/f${index}`);
    for (const name of names) lane.put(name);
    const told: string[] = [];
    let afterPath: string | undefined;
    do {
      const page = await list({ maxResults: 7, ...(afterPath === undefined ? {} : { afterPath }) });
      told.push(...page.paths);
      afterPath = page.nextAfterPath;
    } while (afterPath !== undefined);
    expect(told).toEqual([...names].sort(compareUtf8));
  });

  it('takes a cursor that is gone', async () => {
    lane.put('a');
    lane.put('c');
    expect((await list({ afterPath: 'b' })).paths).toEqual(['c']);
  });

  it('tells 100 files unless asked, and that there are more', async () => {
    for (let index = 0; index < 101; index += 1) lane.put(`f${String(index).padStart(3, '0')}`);
    expect(await list()).toMatchObject({ truncated: true, nextAfterPath: 'f099' });
    expect(await list({ maxResults: 101 })).toMatchObject({ truncated: false });
  });

  it('tells a folder by the path that was asked, and a file as itself', async () => {
    lane.put('src/[x]/a');
    lane.put('src/b');
    lane.put('other');
    expect((await list({ path: 'src' })).paths).toEqual(['src/[x]/a', 'src/b']);
    expect((await list({ path: 'src/[x]' })).paths).toEqual(['src/[x]/a']);
    expect((await list({ path: 'src/b' })).paths).toEqual(['src/b']);
    expect((await list({ path: 'src/b', afterPath: 'src/b' })).paths).toEqual([]);
  });

  it('leaves out what the repository ignores, Git storage, links and names that cannot be sent', async () => {
    execFileSync('git', ['init', '-q', lane.path]);
    lane.put('.gitignore', 'ignored\n');
    lane.put('ignored');
    lane.put('sub/.GIT/config');
    lane.put('back\\slash');
    writeFileSync(Buffer.concat([Buffer.from(`${lane.path}/latin`), Buffer.from([0xe9])]), '');
    symlinkSync('.gitignore', join(lane.path, 'link'));
    symlinkSync('..', join(lane.path, 'up'));
    expect((await list()).paths).toEqual(['.gitignore']);
  });

  it('[T36] leaves worktrees out of a walk from the checkout and tells one that is named', async () => {
    lane.put('src/x');
    lane.put('.worktrees/a/src/x');
    lane.put('src/.worktrees/y');
    const fields = { operation: 'list_files' } as const;
    const hidden = ['.worktrees'];
    expect((await lane.run(fields, { hidden })).paths).toEqual(['src/.worktrees/y', 'src/x']);
    expect((await lane.run({ ...fields, path: '.worktrees/a' }, { hidden })).paths).toEqual([
      '.worktrees/a/src/x',
    ]);
  });

  it('refuses a link, what is missing and Git storage as its path', async () => {
    mkdirSync(join(lane.folder, 'outside'));
    symlinkSync('../outside', join(lane.path, 'link'));
    lane.put('.git/config');
    const code = async (path: string) => (await lane.refusal({ operation: 'list_files', path })).code;
    expect(await code('link')).toBe('INVALID_PATH');
    expect(await code('missing')).toBe('NOT_FOUND');
    expect(await code('.git')).toBe('INVALID_PATH');
  });

  it('says what is missing where the machine has no ripgrep', async () => {
    const refusal = await lane.refusal({ operation: 'list_files' }, { ripgrep: undefined });
    expect(refusal).toMatchObject({ code: 'LIST_UNAVAILABLE' });
    expect(refusal.message).toContain('ripgrep');
    const gone = await lane.refusal({ operation: 'list_files' }, { ripgrep: '/nowhere/rg' });
    expect(gone.code).toBe('LIST_UNAVAILABLE');
  });

  it('is stopped by its signal while ripgrep runs, on request or when its time is over', async () => {
    const sleeper = join(lane.folder, 'rg');
    writeFileSync(sleeper, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
    const fields = { operation: 'list_files' } as const;
    const late = await lane.refusal(fields, { ripgrep: sleeper, signal: AbortSignal.timeout(50) });
    expect(late.code).toBe('LIST_TIMEOUT');
    const cancel = new AbortController();
    const cancelled = lane.refusal(fields, { ripgrep: sleeper, signal: cancel.signal });
    cancel.abort();
    expect((await cancelled).code).toBe('EXECUTION_ABORTED');
  });

  it('tells every page in order for any tree', async () => {
    const segment = fc.constantFrom('a', 'a-', 'a.', 'a0', 'b');
    const tree = fc.uniqueArray(
      fc.array(segment, { minLength: 1, maxLength: 3 }).map((path) => [...path, 'f'].join('/')),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 1, max: 5 }), async (names, maxResults) => {
        const own = new TemporaryLane(Object.fromEntries(names.map((name) => [name, ''])));
        try {
          const told: string[] = [];
          let cursor: { afterPath?: string } | undefined = {};
          while (cursor !== undefined) {
            const page: { paths: string[]; nextAfterPath?: string | undefined } = await own.run({
              operation: 'list_files',
              maxResults,
              ...cursor,
            });
            told.push(...page.paths);
            cursor = page.nextAfterPath === undefined ? undefined : { afterPath: page.nextAfterPath };
          }
          expect(told).toEqual([...names].sort(compareUtf8));
        } finally {
          own.remove();
        }
      }),
      { numRuns: 15 },
    );
  });
});
