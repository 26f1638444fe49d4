import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Directory } from './directory.js';
import { openFile } from './read.js';
import { makeDirectory, removeFile, writeAtomically } from './write.js';

let folder: string;
let top: Directory;
const bytes = Buffer.from('new');
const read = (path: string): string => readFileSync(join(folder, path), 'utf8');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-write-'));
  top = Directory.open(folder);
});
afterEach(() => {
  top.close();
  rmSync(folder, { recursive: true });
});

describe('writing a file', () => {
  it('makes a new one, with its directories when asked', async () => {
    expect(await writeAtomically(top, 'f', bytes, { create: 'create' })).toEqual({
      path: 'f',
      created: true,
    });
    await expect(writeAtomically(top, 'a/b/f', bytes, { create: 'create' })).rejects.toMatchObject({
      fault: 'not_found',
    });
    await writeAtomically(top, 'a/b/f', bytes, { create: 'either', createParents: true });
    expect([read('f'), read('a/b/f')]).toEqual(['new', 'new']);
    expect(readdirSync(folder).sort()).toEqual(['a', 'f']);
  });

  it('never replaces what is there when it should be new', async () => {
    writeFileSync(join(folder, 'f'), 'old');
    await expect(writeAtomically(top, 'f', bytes, { create: 'create' })).rejects.toMatchObject({
      fault: 'exists',
    });
    expect(read('f')).toBe('old');
  });

  it('lets exactly one of many creators win', async () => {
    const all = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) =>
        writeAtomically(top, 'f', Buffer.from(`${index}`), { create: 'create' }),
      ),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(['f']);
  });

  it('keeps the mode of the file that it replaces, and its other names keep the old bytes', async () => {
    writeFileSync(join(folder, 'run.sh'), 'old');
    chmodSync(join(folder, 'run.sh'), 0o751);
    linkSync(join(folder, 'run.sh'), join(folder, 'other'));
    await writeAtomically(top, 'run.sh', bytes, { create: 'replace' });
    expect(statSync(join(folder, 'run.sh')).mode & 0o7777).toBe(0o751);
    expect([read('run.sh'), read('other')]).toEqual(['new', 'old']);
  });

  it('lets nobody put a program in the place of one that runs as its owner', async () => {
    writeFileSync(join(folder, 'run'), 'old');
    chmodSync(join(folder, 'run'), 0o6751);
    await writeAtomically(top, 'run', bytes, { create: 'replace' });
    expect(statSync(join(folder, 'run')).mode & 0o7777).toBe(0o751);
  });

  it('replaces only the version that the caller read', async () => {
    writeFileSync(join(folder, 'f'), 'old');
    const seen = openFile(top, 'f');
    seen.close();
    writeFileSync(join(folder, 'f'), 'someone else’s');
    await expect(
      writeAtomically(top, 'f', bytes, { create: 'replace', expected: seen.version }),
    ).rejects.toMatchObject({ fault: 'changed' });
    expect(read('f')).toBe('someone else’s');
    rmSync(join(folder, 'f'));
    await expect(
      writeAtomically(top, 'f', bytes, { create: 'either', expected: seen.version }),
    ).rejects.toMatchObject({ fault: 'changed' });
  });

  it('leaves nothing behind when it fails, the directories it made included', async () => {
    const name = 'x'.repeat(300);
    await expect(
      writeAtomically(top, `a/b/${name}`, bytes, { create: 'create', createParents: true }),
    ).rejects.toMatchObject({ fault: 'denied' });
    mkdirSync(join(folder, 'd'));
    await expect(writeAtomically(top, 'd', bytes, { create: 'either' })).rejects.toMatchObject({
      fault: 'not_a_file',
    });
    expect(readdirSync(folder)).toEqual(['d']);
  });

  it('writes through a link to the file inside the lane and keeps the link', async () => {
    writeFileSync(join(folder, 'CLAUDE.md'), 'old');
    symlinkSync('CLAUDE.md', join(folder, 'AGENTS.md'));
    expect(await writeAtomically(top, 'AGENTS.md', bytes, { create: 'replace' })).toEqual({
      path: 'CLAUDE.md',
      created: false,
    });
    expect([read('CLAUDE.md'), read('AGENTS.md')]).toEqual(['new', 'new']);
  });
});

describe('paths with a .git segment', () => {
  it.each(['.git', '.GIT/config', 'sub/.git/hooks/pre-commit', '.git./config', 'git~1'])(
    'are never written, made or removed: %s',
    async (path) => {
      mkdirSync(join(folder, '.git'));
      writeFileSync(join(folder, '.git/config'), 'old');
      const git = expect.objectContaining({ fault: 'git_path' }) as Error;
      await expect(
        writeAtomically(top, path, bytes, { create: 'either', createParents: true }),
      ).rejects.toEqual(git);
      expect(() => {
        makeDirectory(top, path, { parents: true });
      }).toThrow(git);
      expect(() => removeFile(top, path)).toThrow(git);
      expect(readdirSync(folder)).toEqual(['.git']);
      expect(read('.git/config')).toBe('old');
    },
  );

  it('are not reached by a link either', async () => {
    mkdirSync(join(folder, '.git/hooks'), { recursive: true });
    writeFileSync(join(folder, '.git/config'), 'old');
    symlinkSync('.git/config', join(folder, 'settings'));
    symlinkSync('.git/hooks', join(folder, 'scripts'));
    for (const path of ['settings', 'scripts/pre-commit', 'scripts/a/b']) {
      await expect(
        writeAtomically(top, path, bytes, { create: 'either', createParents: true }),
      ).rejects.toMatchObject({ fault: 'git_path' });
    }
    expect(read('.git/config')).toBe('old');
    expect(readdirSync(join(folder, '.git/hooks'))).toEqual([]);
  });
});

describe('making and removing', () => {
  it('makes directories and says when one is there', () => {
    makeDirectory(top, 'a/b/c', { parents: true });
    expect(existsSync(join(folder, 'a/b/c'))).toBe(true);
    makeDirectory(top, 'a/b/c', { parents: true });
    expect(() => {
      makeDirectory(top, 'a');
    }).toThrow(expect.objectContaining({ fault: 'exists' }));
    expect(() => {
      makeDirectory(top, 'x/y');
    }).toThrow(expect.objectContaining({ fault: 'not_found' }));
  });

  it('removes a file by its own name', () => {
    writeFileSync(join(folder, 'f'), 'x');
    symlinkSync('f', join(folder, 'l'));
    expect([removeFile(top, 'l'), removeFile(top, 'l')]).toEqual([true, false]);
    expect(read('f')).toBe('x');
  });
});
