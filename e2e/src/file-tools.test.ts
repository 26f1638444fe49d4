import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller, Fields } from './rig/caller.js';
import { Deployment } from './rig/deployment.js';
import { Repository } from './rig/repository.js';

let repository: Repository;
let deployment: Deployment;
let caller: Caller;

const text = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join('\n');
const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');

beforeAll(async () => {
  repository = Repository.create('a', 'b');
  for (const worktree of [undefined, 'a', 'b']) {
    const lane = worktree ?? 'checkout';
    mkdirSync(repository.path('src/deep', worktree), { recursive: true });
    writeFileSync(repository.path('src/where.txt', worktree), `needle of ${lane}\n`);
    writeFileSync(repository.path('src/deep/x.ts', worktree), `${text}\n`);
    writeFileSync(repository.path('.hidden', worktree), 'needle hidden\n');
    mkdirSync(repository.path('node_modules/m', worktree), { recursive: true });
    writeFileSync(repository.path('node_modules/m/index.js', worktree), 'needle ignored\n');
    symlinkSync('where.txt', repository.path('src/inner-link', worktree));
    symlinkSync(join(repository.folder, 'home'), repository.path('out', worktree));
  }
  deployment = await Deployment.start(repository);
  writeFileSync(join(deployment.home, 'secret'), 'needle secret\n');
  caller = deployment.caller();
});
afterAll(async () => {
  await deployment.stop();
  repository.remove();
});

async function expectRefused(fields: Fields, code: string, words: string | RegExp): Promise<void> {
  const refusal = await caller.refused(fields);
  expect(refusal.code).toBe(code);
  expect(refusal.error).toMatch(words);
}

describe('[L1] [L14] the worktree field re-bases every operation onto the worktree', () => {
  it('read_file', async () => {
    for (const worktree of ['a', 'b']) {
      const result = await caller.succeed({ operation: 'read_file', path: 'src/where.txt', worktree });
      expect(result).toEqual({
        protocolVersion: 1,
        operation: 'read_file',
        workspaceId: 'primary',
        path: 'src/where.txt',
        content: `needle of ${worktree}`,
        startLine: 1,
        endLine: 1,
        truncated: false,
      });
    }
    expect(await caller.succeed({ operation: 'read_file', path: 'src/where.txt' })).toMatchObject({
      content: 'needle of checkout',
    });
  });

  it('search_text', async () => {
    const result = await caller.succeed({ operation: 'search_text', query: 'needle', worktree: 'a' });
    if (result.operation !== 'search_text') throw new Error('another result');
    expect(result.truncated).toBe(false);
    expect([...result.matches].sort((one, other) => one.path.localeCompare(other.path))).toEqual([
      { path: '.hidden', line: 1, column: 1, text: 'needle hidden' },
      { path: 'src/where.txt', line: 1, column: 1, text: 'needle of a' },
    ]);
  });

  it('list_files', async () => {
    expect(await caller.succeed({ operation: 'list_files', worktree: 'b' })).toMatchObject({
      paths: ['.gitignore', '.hidden', 'file.txt', 'src/deep/x.ts', 'src/where.txt'],
      truncated: false,
    });
  });

  it('write_file', async () => {
    const fields = { operation: 'write_file', path: 'made/by/tool', content: 'ä\n', worktree: 'a' };
    expect(await caller.succeed(fields)).toMatchObject({
      path: 'made/by/tool',
      created: true,
      bytesWritten: 3,
    });
    expect(readFileSync(repository.path('made/by/tool', 'a'), 'utf8')).toBe('ä\n');
    expect(existsSync(repository.path('made')) || existsSync(repository.path('made', 'b'))).toBe(false);
  });

  it('preview_edit and edit_file', async () => {
    const edit = { path: 'src/where.txt', oldText: 'needle', newText: 'pin', worktree: 'b' };
    expect(await caller.succeed({ operation: 'preview_edit', ...edit })).toMatchObject({
      content: 'pin of b\n',
    });
    expect(readFileSync(repository.path('src/where.txt', 'b'), 'utf8')).toBe('needle of b\n');
    expect(await caller.succeed({ operation: 'edit_file', ...edit })).toMatchObject({ replacements: 1 });
    expect(readFileSync(repository.path('src/where.txt', 'b'), 'utf8')).toBe('pin of b\n');
    expect(readFileSync(repository.path('src/where.txt', 'a'), 'utf8')).toBe('needle of a\n');
    expect(readFileSync(repository.path('src/where.txt'), 'utf8')).toBe('needle of checkout\n');
  });

  it('[T32] execute_command, whose cwd is an argument of every call', async () => {
    const lane = repository.path('', 'a');
    expect((await caller.run('cd src && pwd', 'a')).stdout).toBe(`${lane}/src\n`);
    expect((await caller.run('pwd', 'a')).stdout).toBe(`${lane}\n`);
    expect((await caller.run('pwd', 'a', { more: { cwd: 'src/deep' } })).stdout).toBe(`${lane}/src/deep\n`);
    expect((await caller.run('pwd', 'a', { more: { cwd: '.' } })).stdout).toBe(`${lane}\n`);
    expect((await caller.run('pwd', undefined, { more: { cwd: 'src' } })).stdout).toBe(
      `${repository.path('src')}\n`,
    );
    const nowhere = { operation: 'execute_command', command: 'pwd', cwd: 'none', worktree: 'a' };
    await expectRefused(nowhere, 'INVALID_PATH', 'cannot start in "none"');
  });

  it('[L27] without the field every path of the checkout is served, those of its worktrees included', async () => {
    const path = '.worktrees/a/src/where.txt';
    expect(await caller.succeed({ operation: 'read_file', path })).toMatchObject({
      path,
      content: 'needle of a',
    });
    expect(await caller.succeed({ operation: 'list_files', path: '.worktrees/a/src' })).toMatchObject({
      paths: ['.worktrees/a/src/deep/x.ts', '.worktrees/a/src/where.txt'],
    });
    expect((await caller.run('pwd', undefined, { more: { cwd: '.worktrees/a' } })).stdout).toBe(
      `${repository.path('', 'a')}\n`,
    );
  });
});

describe('reading, listing and searching', () => {
  it('[T36] skip .worktrees at the checkout, so that a file is found once', async () => {
    const list = await caller.succeed({ operation: 'list_files' });
    const search = await caller.succeed({ operation: 'search_text', query: 'needle' });
    if (list.operation !== 'list_files' || search.operation !== 'search_text')
      throw new Error('other results');
    expect(list.paths).toContain('src/where.txt');
    expect(search.matches.map(({ path }) => path).sort()).toEqual(['.hidden', 'src/where.txt']);
    expect(
      [...list.paths, ...search.matches.map(({ path }) => path)].filter((path) =>
        path.includes('.worktrees'),
      ),
    ).toEqual([]);
  });

  it('leave out what the repository ignores, Git itself and links', async () => {
    const list = await caller.succeed({ operation: 'list_files', worktree: 'a' });
    expect(JSON.stringify(list)).not.toMatch(/node_modules|\.git["/]|inner-link|out/u);
    expect(
      JSON.stringify(await caller.succeed({ operation: 'search_text', query: 'needle', worktree: 'a' })),
    ).not.toContain('secret');
  });

  it('read the lines that were asked for and say where the rest begins', async () => {
    const path = 'src/deep/x.ts';
    expect(
      await caller.succeed({ operation: 'read_file', path, startLine: 3, maxLines: 2, worktree: 'a' }),
    ).toMatchObject({
      content: 'line 3\nline 4',
      startLine: 3,
      endLine: 4,
      truncated: true,
      nextStartLine: 5,
    });
    expect(
      await caller.succeed({ operation: 'read_file', path: 'src/inner-link', worktree: 'a' }),
    ).toMatchObject({
      content: 'needle of a',
    });
  });

  it('list page by page', async () => {
    const paths: string[] = [];
    let afterPath: string | undefined;
    do {
      const page = await caller.succeed({
        operation: 'list_files',
        maxResults: 2,
        worktree: 'b',
        ...(afterPath === undefined ? {} : { afterPath }),
      });
      if (page.operation !== 'list_files') throw new Error('another result');
      paths.push(...page.paths);
      afterPath = page.nextAfterPath;
    } while (afterPath !== undefined);
    expect(paths).toEqual(['.gitignore', '.hidden', 'file.txt', 'src/deep/x.ts', 'src/where.txt']);
  });

  it.each<[string, Fields, string, string | RegExp]>([
    [
      'a missing file',
      { operation: 'read_file', path: 'none.txt' },
      'NOT_FOUND',
      '"none.txt" does not exist.',
    ],
    ['a missing folder', { operation: 'list_files', path: 'none' }, 'NOT_FOUND', '"none" does not exist.'],
    ['a folder', { operation: 'read_file', path: 'src' }, 'INVALID_PATH', 'is a directory'],
    ['a file as a folder', { operation: 'read_file', path: 'file.txt/x' }, 'INVALID_PATH', 'not a directory'],
    [
      'a link out of the lane',
      { operation: 'read_file', path: 'out/secret' },
      'INVALID_PATH',
      'Paths are relative to the lane primary/.worktrees/a.',
    ],
    ['a folder that is a link', { operation: 'list_files', path: 'out' }, 'INVALID_PATH', 'symbolic link'],
    [
      'a search in a link',
      { operation: 'search_text', query: 'needle', path: 'out' },
      'INVALID_PATH',
      'symbolic link',
    ],
    ["Git's own storage", { operation: 'read_file', path: '.git' }, 'INVALID_PATH', 'use a git command'],
  ])('refuse %s with a sentence', async (_, fields, code, words) => {
    await expectRefused({ ...fields, worktree: 'a' }, code, words);
  });

  it('[T31] refuse an absolute path and a climb before anything is queued, and say what paths are relative to', async () => {
    for (const path of [
      repository.path('file.txt'),
      '/etc/passwd',
      '../b/file.txt',
      'src/../../b/file.txt',
      './file.txt',
      'C:\\x',
      'a\0b',
    ]) {
      for (const fields of [
        { operation: 'read_file', path },
        { operation: 'write_file', path, content: 'x' },
        { operation: 'edit_file', path, oldText: 'one', newText: 'x' },
        { operation: 'list_files', path },
        { operation: 'execute_command', command: 'true', cwd: path },
      ]) {
        const refusal = await caller.refused({ ...fields, worktree: 'a' });
        expect(refusal).toMatchObject({ status: 400, code: 'MALFORMED_REQUEST' });
        expect(refusal.error).toMatch(/path/u);
      }
    }
    const absolute = await caller.refused({ operation: 'read_file', path: '/etc/passwd' });
    expect(absolute.error).toContain('a path is relative to its lane and may not start with /');
    expect(readFileSync(repository.path('file.txt', 'b'), 'utf8')).toBe('one\n');
  });
});

describe('writing', () => {
  it('creates only, where it may not overwrite', async () => {
    const fields = {
      operation: 'write_file',
      path: 'once',
      content: 'first',
      overwrite: false,
      worktree: 'a',
    };
    expect(await caller.succeed(fields)).toMatchObject({ created: true });
    expect(await caller.refused({ ...fields, content: 'second' })).toMatchObject({
      status: 409,
      code: 'EDIT_CONFLICT',
      error: '"once" exists already.',
    });
    expect(readFileSync(repository.path('once', 'a'), 'utf8')).toBe('first');
    expect(await caller.succeed({ ...fields, content: 'third', overwrite: true })).toMatchObject({
      created: false,
    });
    expect(readFileSync(repository.path('once', 'a'), 'utf8')).toBe('third');
  });

  it('[T31] never leaves the lane through a link, and writes through one that stays inside', async () => {
    for (const path of ['out/new', 'out/secret', 'out']) {
      expect(
        await caller.refused({ operation: 'write_file', path, content: 'x', worktree: 'a' }),
      ).toMatchObject({ code: 'INVALID_PATH' });
    }
    expect(readFileSync(join(deployment.home, 'secret'), 'utf8')).toBe('needle secret\n');
    expect(existsSync(join(deployment.home, 'new'))).toBe(false);
    await caller.succeed({
      operation: 'write_file',
      path: 'src/inner-link',
      content: 'needle of a\n',
      worktree: 'a',
    });
    expect(readFileSync(repository.path('src/where.txt', 'a'), 'utf8')).toBe('needle of a\n');
  });
});

describe('editing', () => {
  const path = 'edited.ts';
  const content = 'function one() {\n\treturn 1;\n}\nfunction two() {\n\treturn 1;\n}\n';
  const edit = (fields: object): Fields => ({ operation: 'edit_file', path, worktree: 'a', ...fields });
  const now = (): string => readFileSync(repository.path(path, 'a'), 'utf8');
  const reset = (): void => {
    writeFileSync(repository.path(path, 'a'), content);
  };

  it('previews what it would make, and then makes exactly that of the file that was previewed', async () => {
    reset();
    const texts = { oldText: 'function one', newText: 'function first' };
    const preview = await caller.succeed({ operation: 'preview_edit', path, worktree: 'a', ...texts });
    if (preview.operation !== 'preview_edit') throw new Error('another result');
    expect(preview.baseSha256).toBe(sha256(content));
    expect(now()).toBe(content);
    await caller.succeed(edit({ ...texts, expectedBaseSha256: preview.baseSha256 }));
    expect(now()).toBe(preview.content);
    expect(
      await caller.refused(edit({ oldText: 'two', newText: '2', expectedBaseSha256: preview.baseSha256 })),
    ).toMatchObject({
      code: 'EDIT_CONFLICT',
      error: `"${path}" is not the file that was previewed any more: preview the edit again.`,
    });
    expect(now()).toBe(preview.content);
  });

  it('refuses a text that stands twice, says where, and replaces all on request', async () => {
    reset();
    const ambiguous = edit({ oldText: 'return 1;', newText: 'return 2;' });
    await expectRefused(ambiguous, 'EDIT_CONFLICT', /2 places, at lines 2, 5.*replaceAll/u);
    const all = { edits: [{ oldText: 'return 1;', newText: 'return 2;', replaceAll: true }] };
    expect(await caller.succeed(edit(all))).toMatchObject({
      replacements: 1,
      matches: [{ strategy: 'exact', occurrences: 2 }],
    });
    expect(now()).toBe(content.replaceAll('return 1;', 'return 2;'));
  });

  it('overlooks white space only where it is told to be tolerant', async () => {
    reset();
    const texts = {
      oldText: 'function two() {\n  return 1;\n}',
      newText: 'function two() {\n  return 2;\n}',
    };
    await expectRefused(edit(texts), 'EDIT_CONFLICT', /line 4.*white space.*tolerant/u);
    expect(now()).toBe(content);
    expect(await caller.succeed(edit({ ...texts, matching: 'tolerant' }))).toMatchObject({ replacements: 1 });
    expect(now()).toContain('return 2;');
  });

  it('does all edits of a batch or none', async () => {
    reset();
    const edits = [
      { oldText: 'one', newText: 'first' },
      { oldText: 'nowhere', newText: 'x' },
    ];
    expect(await caller.refused(edit({ edits }))).toMatchObject({ code: 'EDIT_CONFLICT' });
    expect(now()).toBe(content);
    expect(
      await caller.succeed(edit({ edits: [edits[0], { oldText: 'two', newText: 'second' }] })),
    ).toMatchObject({ replacements: 2 });
    expect(now()).toBe(content.replace('one', 'first').replace('two', 'second'));
  });

  it('refuses a missing file and one that is not text', async () => {
    writeFileSync(repository.path('binary', 'a'), Buffer.from([0xff, 0xfe, 0x00, 0x80]));
    const texts = { oldText: 'a', newText: 'b' };
    expect(await caller.refused(edit({ ...texts, path: 'none' }))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await caller.refused(edit({ ...texts, path: 'binary' }))).toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });
});

describe('without the capability', () => {
  it('[L27] [L3] [L19] a call with a worktree is refused before anything, and one without it works', async () => {
    const plain = Repository.create('a');
    const served = await Deployment.start(plain, { lanes: false });
    try {
      for (const fields of [
        { operation: 'read_file', path: 'file.txt' },
        { operation: 'write_file', path: 'x', content: 'x' },
        { operation: 'execute_command', command: 'touch x' },
      ]) {
        expect(await served.caller().refused({ ...fields, worktree: 'a' })).toMatchObject({
          status: 409,
          code: 'WORKER_MISMATCH',
        });
        expect((await served.caller().call(fields)).status).toBe(200);
      }
      expect(existsSync(plain.path('x', 'a'))).toBe(false);
      expect((await served.caller().send('GET', '/v1/bridge/workers/w1/status')).text).not.toContain(
        'workspaceScopes',
      );
    } finally {
      await served.stop();
      plain.remove();
    }
  });
});
