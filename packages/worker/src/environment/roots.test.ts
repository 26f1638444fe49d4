import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compileRoots, rootIdOf } from './roots.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codelanes-roots-')));
  mkdirSync(join(folder, 'one/inner'), { recursive: true });
  mkdirSync(join(folder, 'two'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const request = (id: string, path: string) => ({
  id,
  root: join(folder, path),
  linkedWorktreeLanes: false,
  read: [],
});

describe('compileRoots', () => {
  it('resolves a root that is reached by a link', () => {
    symlinkSync(join(folder, 'one'), join(folder, 'link'));
    expect(compileRoots([request('a', 'link')])).toMatchObject([{ id: 'a', root: join(folder, 'one') }]);
  });

  it.each([
    ['no root', [], /at least one root/],
    ['a root that is missing', ['none'], /does not exist/],
    ['a root that is a file', ['file'], /not a folder/],
    ['the same folder twice', ['one', 'one'], /overlap/],
    ['a folder in another', ['one', 'one/inner'], /overlap/],
    ['a link into another root', ['link', 'one'], /overlap/],
  ])('refuses %s', (_, paths, message) => {
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'one/inner'), join(folder, 'link'));
    expect(() => compileRoots(paths.map((path, index) => request(`r${index}`, path)))).toThrow(message);
  });

  it('refuses two roots of one id, an id that is none, and the whole machine', () => {
    expect(() => compileRoots([request('a', 'one'), request('a', 'two')])).toThrow(/Two roots/);
    expect(() => compileRoots([request('a/b', 'one')])).toThrow(/is not one/);
    expect(() => compileRoots([{ ...request('a', 'one'), root: '/' }])).toThrow(/whole machine/);
  });

  it('serves 32 roots and refuses a 33rd', () => {
    const many = Array.from({ length: 33 }, (_, index) => {
      mkdirSync(join(folder, `many${index}`));
      return request(`r${index}`, `many${index}`);
    });
    expect(compileRoots(many.slice(0, 32))).toHaveLength(32);
    expect(() => compileRoots(many)).toThrow(/at most 32/);
  });

  const declared = (path: string, workspaceId: string) => ({
    path,
    workspaceId,
    checkout: `/srv/checkouts/${path}`,
    identity: { dev: 1n, ino: 1n },
    gitIdentity: { dev: 1n, ino: 2n },
  });

  it.each([
    ['two repositories', [declared('api', 'a:x'), declared('web', 'a:x')], 'two'],
    ['a repository and another root', [declared('api', 'b:api')], 'b:api'],
    ['a repository and its own root', [declared('api', 'a')], 'two'],
  ])('refuses %s of one name, in whatever way they were declared', (_, repositories, other) => {
    const roots = [{ ...request('a', 'one'), repositories }, request(other, 'two')];
    expect(() => compileRoots(roots)).toThrow(/are both the workspace/u);
  });

  it('counts the repositories of all roots among the 32 workspaces', () => {
    const repositories = (count: number) =>
      Array.from({ length: count }, (_, index) => declared(`r${index}`, `a:r${index}`));
    const roots = (count: number) => [
      { ...request('a', 'one'), repositories: repositories(count) },
      request('b', 'two'),
    ];
    expect(compileRoots(roots(30))).toHaveLength(2);
    expect(() => compileRoots(roots(31))).toThrow(/at most 32 workspaces.*these are 33/u);
  });
});

describe('rootIdOf', () => {
  it.each([
    ['/home/me/src/LibreChat', 'LibreChat'],
    ['./my project/', 'my-project'],
    ['/srv/.hidden', 'hidden'],
    ['/', 'root'],
  ])('names %s "%s"', (path, id) => {
    expect(rootIdOf(path)).toBe(id);
  });
});
