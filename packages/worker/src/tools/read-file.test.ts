import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TemporaryLane } from './testing/temporary-lane.js';

let lane: TemporaryLane;
beforeEach(() => {
  lane = new TemporaryLane();
});
afterEach(() => {
  lane.remove();
});

const read = (path: string, fields: { startLine?: number; maxLines?: number } = {}) =>
  lane.run({ operation: 'read_file', path, ...fields });

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');
}

describe('read_file', () => {
  it.each([
    ['', '', 1],
    ['\n', '', 1],
    ['a', 'a', 1],
    ['a\n', 'a', 1],
    ['a\n\n', 'a\n', 2],
    ['a\nb', 'a\nb', 2],
  ])('tells the lines of %j without the last line end', async (file, content, endLine) => {
    lane.put('f', file);
    expect(await read('f')).toMatchObject({ content, startLine: 1, endLine, truncated: false });
  });

  it('tells 200 lines unless asked, and where to go on', async () => {
    lane.put('f', numbered(201));
    expect(await read('f')).toMatchObject({ endLine: 200, truncated: true, nextStartLine: 201 });
    expect(await read('f', { startLine: 201 })).toMatchObject({ content: 'line 201', truncated: false });
    expect(await read('f', { startLine: 2, maxLines: 200 })).toMatchObject({
      endLine: 201,
      truncated: false,
    });
  });

  it('tells up to 500 lines', async () => {
    lane.put('f', numbered(500));
    expect(await read('f', { maxLines: 500 })).toMatchObject({ endLine: 500, truncated: false });
    expect(await read('f', { maxLines: 499 })).toMatchObject({ endLine: 499, nextStartLine: 500 });
  });

  it('tells nothing behind the last line', async () => {
    lane.put('f', 'a\nb\n');
    expect(await read('f', { startLine: 3 })).toMatchObject({ content: '', startLine: 3, endLine: 2 });
    expect(await read('f', { startLine: 99 })).toMatchObject({ content: '', startLine: 99, endLine: 98 });
  });

  it('keeps a byte order mark and CRLF', async () => {
    lane.put('f', '\ufeffa\r\nb\r\n');
    expect((await read('f')).content).toBe('\ufeffa\r\nb\r');
  });

  it('[T66] keeps characters whole wherever its chunks end', async () => {
    lane.put('f', `x${'你'.repeat(50_000)}\n${'😀'.repeat(40_000)}`);
    expect((await read('f')).content).toBe(`x${'你'.repeat(50_000)}\n${'😀'.repeat(40_000)}`);
  });

  it('refuses bytes that are not UTF-8, naming the line, and reads the lines around them', async () => {
    lane.put('f', Buffer.from('a\ncaf\xe9\nc\n', 'latin1'));
    const refusal = await lane.refusal({ operation: 'read_file', path: 'f' });
    expect(refusal.code).toBe('INVALID_REQUEST');
    expect(refusal.message).toContain('line 2');
    expect((await read('f', { startLine: 3 })).content).toBe('c');
  });

  it('refuses UTF-16 by name', async () => {
    lane.put('f', Buffer.from('\ufeffabc', 'utf16le'));
    expect((await lane.refusal({ operation: 'read_file', path: 'f' })).message).toContain('UTF-16');
  });

  it('reads lines of a file far larger than what it may tell', async () => {
    lane.put('f', `${'x'.repeat(99)}\n`.repeat(60_000));
    const last = await read('f', { startLine: 60_000 });
    expect(last).toMatchObject({ endLine: 60_000, truncated: false });
    expect(await read('f', { maxLines: 500 })).toMatchObject({ endLine: 500, truncated: true });
  });

  it('tells 1 MiB and not a byte more', async () => {
    lane.put('exact', 'x'.repeat(1024 * 1024));
    expect((await read('exact')).content).toHaveLength(1024 * 1024);
    lane.put('over', 'x'.repeat(1024 * 1024 + 1));
    expect((await lane.refusal({ operation: 'read_file', path: 'over' })).code).toBe('READ_LIMIT_EXCEEDED');
    lane.put('second', `a\n${'x'.repeat(1024 * 1024 - 1)}`);
    expect(await read('second')).toMatchObject({ content: 'a', truncated: true, nextStartLine: 2 });
  });

  it('is stopped by its signal', async () => {
    lane.put('f', 'a');
    const refusal = await lane.refusal(
      { operation: 'read_file', path: 'f' },
      { signal: AbortSignal.abort() },
    );
    expect(refusal.code).toBe('EXECUTION_ABORTED');
  });
});

describe('what read_file never opens', () => {
  it('says NOT_FOUND of what is missing and INVALID_PATH of what is no file', async () => {
    mkdirSync(join(lane.path, 'd'));
    lane.put('f', '');
    execFileSync('mkfifo', [join(lane.path, 'pipe')]);
    const code = async (path: string) => (await lane.refusal({ operation: 'read_file', path })).code;
    expect(await code('missing')).toBe('NOT_FOUND');
    expect(await code('missing/too')).toBe('NOT_FOUND');
    expect(await code('d')).toBe('INVALID_PATH');
    expect(await code('f/x')).toBe('INVALID_PATH');
    expect(await code('pipe')).toBe('INVALID_PATH');
  });

  it.each(['../secret', '/etc/hostname'])(
    '[T31] a file that the link "%s" reaches outside',
    async (target) => {
      writeFileSync(join(lane.folder, 'secret'), 'secret');
      symlinkSync(target, join(lane.path, 'link'));
      const refusal = await lane.refusal({ operation: 'read_file', path: 'link' });
      expect(refusal.code).toBe('INVALID_PATH');
      expect(refusal.message).toContain('primary/.worktrees/a');
      expect(refusal.message).not.toContain(lane.folder);
    },
  );

  it('[T31] a file behind a directory link that leads outside', async () => {
    mkdirSync(join(lane.folder, 'main'));
    writeFileSync(join(lane.folder, 'main/f'), 'other');
    symlinkSync('../main', join(lane.path, 'main'));
    expect((await lane.refusal({ operation: 'read_file', path: 'main/f' })).code).toBe('INVALID_PATH');
  });

  it.each(['.git/config', '.GIT/config', 'sub/.git/config', '.git', 'git~1/config', 'harmless'])(
    'Git storage by the name %s',
    async (path) => {
      lane.put('.git/config', 'token');
      lane.put('sub/.git/config', 'token');
      symlinkSync('.git/config', join(lane.path, 'harmless'));
      const refusal = await lane.refusal({ operation: 'read_file', path });
      expect(refusal.code).toBe('INVALID_PATH');
      expect(refusal.message).toContain('Git');
    },
  );

  it('but reads through a link that stays inside, and echoes the path that was asked', async () => {
    lane.put('a/f', 'inside');
    symlinkSync('a/f', join(lane.path, 'link'));
    expect(await read('link')).toMatchObject({ path: 'link', content: 'inside' });
  });
});

describe('instructions', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

  it('are told whole, however many lines they have', async () => {
    const text = numbered(900);
    lane.put('AGENTS.md', text);
    const result = await lane.run({
      operation: 'read_file',
      path: 'AGENTS.md',
      instructionSha256: sha256(text),
    });
    expect(result).toMatchObject({ content: text, startLine: 1, endLine: 901, truncated: false });
  });

  it('are refused when they changed since they were advertised', async () => {
    lane.put('CLAUDE.md', 'new');
    const refusal = await lane.refusal({
      operation: 'read_file',
      path: 'CLAUDE.md',
      instructionSha256: sha256('old'),
    });
    expect(refusal.code).toBe('INVALID_REQUEST');
    expect(refusal.message).toContain('digest');
  });

  it('are cut at 32 KiB after a whole character', async () => {
    const text = 'x' + '你'.repeat(20_000);
    lane.put('AGENTS.md', text);
    const cut = 'x' + '你'.repeat(10_922);
    const result = await lane.run({
      operation: 'read_file',
      path: 'AGENTS.md',
      instructionSha256: sha256(cut),
    });
    expect(result).toMatchObject({ content: cut, truncated: true });
  });
});
