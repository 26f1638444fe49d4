import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEntries, type SharedIndex } from './index-entries.js';
import type { HashBytes } from './split-index.js';

const gitlinksOf = (index: Buffer, hashBytes: HashBytes, shared?: SharedIndex) =>
  findEntries(index, hashBytes, ({ isGitlink }) => isGitlink, shared);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'codelanes-index-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function indexOf(name: string, options: string, script: string): Buffer {
  const path = join(folder, name);
  execFileSync('/bin/sh', ['-c', `git init -q ${options} ${path} && cd ${path} && ${script}`], {
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', HOME: folder },
    stdio: 'pipe',
  });
  return readFileSync(join(path, '.git', 'index'));
}

const fill = (digits: number): string =>
  `mkdir -p a/deep sub && for i in 1 2 3 40 500; do touch a/deep/f$i "sub/ü $i"; done && git add . && touch later && git add -N later && ` +
  `for p in a/link a/linked z; do git update-index --add --cacheinfo 160000,$(printf '1%.0s' $(seq ${digits})),$p; done`;
const links = ['a/link', 'a/linked', 'z'];

describe('the gitlinks of an index', () => {
  it('are found in every version that Git writes', () => {
    for (const version of [2, 4]) {
      const index = indexOf(`v${version}`, '', `${fill(40)} && git update-index --index-version ${version}`);
      expect(gitlinksOf(index, 20)).toEqual(links);
    }
  });

  it('are found with SHA-256 names', () => {
    expect(gitlinksOf(indexOf('sha256', '--object-format=sha256', fill(64)), 32)).toEqual(links);
  });

  it('are found in an index that was split off a shared one, with what it replaces, leaves out and adds', () => {
    const one = '1'.repeat(40);
    const two = '2'.repeat(40);
    const script =
      `${fill(40)} && touch a/file && git add a/file && git update-index --split-index && ` +
      `git update-index --cacheinfo 160000,${two},a/linked && git update-index --force-remove z && ` +
      `git update-index --add --cacheinfo 160000,${one},new && git update-index --force-remove a/deep/f1 && ` +
      `git update-index --cacheinfo 160000,${one},a/file`;
    const index = indexOf('split', '', script);
    const git = join(folder, 'split', '.git');
    const shared = (hash: string) => readFileSync(join(git, `sharedindex.${hash}`));
    expect(gitlinksOf(index, 20, shared)?.sort()).toEqual(['a/file', 'a/link', 'a/linked', 'new']);
    expect(gitlinksOf(index, 20)).toBeUndefined();
  });

  it('are not guessed from what is no index, and reading one that was cut or changed ends', () => {
    const index = indexOf('whole', '', `${fill(40)} && git update-index --index-version 4`);
    expect(gitlinksOf(Buffer.from('no index at all'), 20)).toBeUndefined();
    expect(gitlinksOf(index.subarray(0, index.length / 2), 20)).toBeUndefined();
    fc.assert(
      fc.property(fc.nat(index.length - 1), fc.nat(255), fc.nat(index.length), (at, byte, length) => {
        const changed = Buffer.from(index.subarray(0, length));
        if (at < changed.length) changed[at] = byte;
        const found = gitlinksOf(changed, 20);
        expect(found === undefined || Array.isArray(found)).toBe(true);
      }),
    );
  });
});
