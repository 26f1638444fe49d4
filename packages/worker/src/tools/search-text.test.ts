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

const search = (query: string, fields: { path?: string; maxResults?: number } = {}) =>
  lane.run({ operation: 'search_text', query, ...fields });

describe('search_text', () => {
  it('tells the first match of each line, by file in byte order', async () => {
    lane.put('a/b', 'x\nneedle needle\nno\n  needle\r\n');
    lane.put('a.txt', 'needle');
    const { matches, truncated } = await search('needle');
    expect(matches).toEqual([
      { path: 'a.txt', line: 1, column: 1, text: 'needle' },
      { path: 'a/b', line: 2, column: 1, text: 'needle needle' },
      { path: 'a/b', line: 4, column: 3, text: '  needle' },
    ]);
    expect(truncated).toBe(false);
  });

  it.each(['a.*b', '[x]', '--files', '-e', '$(id)', 'ä😀', '\\', ' '])(
    'finds %j literally',
    async (query) => {
      lane.put('f', `before\n<${query}>\n`);
      lane.put('g', 'axxb');
      expect((await search(query)).matches).toEqual([{ path: 'f', line: 2, column: 2, text: `<${query}>` }]);
    },
  );

  it('minds the case', async () => {
    lane.put('f', 'Needle');
    expect((await search('needle')).matches).toEqual([]);
  });

  it('counts columns in UTF-16 units', async () => {
    lane.put('f', 'ä😀needle');
    expect((await search('needle')).matches[0]?.column).toBe(4);
  });

  it('tells 50 matches unless asked, and that there are more', async () => {
    lane.put('f', 'needle\n'.repeat(51));
    expect(await search('needle')).toMatchObject({ truncated: true });
    expect((await search('needle')).matches).toHaveLength(50);
    expect(await search('needle', { maxResults: 51 })).toMatchObject({ truncated: false });
  });

  it('cuts a long line on whole characters around the match', async () => {
    lane.put('f', `${'😀'.repeat(3000)}needle${'😀'.repeat(3000)}`);
    const [match] = (await search('needle')).matches;
    expect(match?.column).toBe(6001);
    expect(match?.text.length).toBeLessThanOrEqual(2000);
    expect(match?.text).toMatch(/^(?:😀)+needle(?:😀)+$/u);
  });

  it('tells the whole of the longest query', async () => {
    const query = 'q'.repeat(2000);
    lane.put('f', `xx${query}xx`);
    expect((await search(query)).matches[0]?.text).toBe(query);
  });

  it('passes over binary files, large ones and what is not text but for the match', async () => {
    lane.put('binary', 'needle\0');
    lane.put('large', `needle${' '.repeat(1024 * 1024)}`);
    lane.put('limit', `needle${' '.repeat(1024 * 1024 - 6)}`);
    lane.put('latin', Buffer.from('caf\xe9 needle', 'latin1'));
    const { matches } = await search('needle');
    expect(matches.map(({ path }) => path)).toEqual(['latin', 'limit']);
    expect(matches[0]).toMatchObject({ column: 6, text: 'caf\ufffd needle' });
  });

  it('searches one folder or one file by the path that was asked', async () => {
    lane.put('src/a', 'needle');
    lane.put('src2/a', 'needle');
    lane.put('.gitignore', 'needle');
    const paths = async (path: string) =>
      (await search('needle', { path })).matches.map((match) => match.path);
    expect(await paths('src')).toEqual(['src/a']);
    expect(await paths('src/a')).toEqual(['src/a']);
    expect(await paths('.gitignore')).toEqual(['.gitignore']);
  });

  it('[T36] leaves worktrees out of a search from the checkout and searches one that is named', async () => {
    lane.put('src/x', 'needle');
    lane.put('.worktrees/a/src/x', 'needle');
    const fields = { operation: 'search_text', query: 'needle' } as const;
    const hidden = ['.worktrees'];
    expect((await lane.run(fields, { hidden })).matches.map(({ path }) => path)).toEqual(['src/x']);
    const named = await lane.run({ ...fields, path: '.worktrees/a' }, { hidden });
    expect(named.matches.map(({ path }) => path)).toEqual(['.worktrees/a/src/x']);
  });

  it('[T31] neither follows links nor enters Git storage', async () => {
    mkdirSync(join(lane.folder, 'outside'));
    writeFileSync(join(lane.folder, 'outside/f'), 'needle');
    symlinkSync('../outside', join(lane.path, 'dir'));
    symlinkSync('../outside/f', join(lane.path, 'file'));
    lane.put('.git/config', 'needle');
    lane.put('sub/.git/config', 'needle');
    expect((await search('needle')).matches).toEqual([]);
    for (const path of ['dir', 'file', 'dir/f', '.git', '.git/config']) {
      const fields = { operation: 'search_text', query: 'needle', path } as const;
      expect((await lane.refusal(fields)).code).toBe('INVALID_PATH');
    }
  });

  it('says what is missing where the machine has no ripgrep', async () => {
    const fields = { operation: 'search_text', query: 'needle' } as const;
    expect((await lane.refusal(fields, { ripgrep: undefined })).code).toBe('SEARCH_UNAVAILABLE');
  });

  it('reads no settings of the operator', async () => {
    lane.put('f', 'needle');
    const config = join(lane.folder, 'ripgreprc');
    writeFileSync(config, '--invert-match\n');
    process.env['RIPGREP_CONFIG_PATH'] = config;
    try {
      expect((await search('needle')).matches).toHaveLength(1);
    } finally {
      delete process.env['RIPGREP_CONFIG_PATH'];
    }
  });
});
