import { describe, expect, it } from 'vitest';
import { holdsGitSegment } from './git-path.js';

describe('paths of Git’s own storage', () => {
  it.each([
    '.git',
    '.GIT/config',
    'a/.Git',
    '.git./hooks',
    '.git ',
    '.git. .',
    'git~1',
    'GIT~1/hooks/pre-commit',
    '.git::$INDEX_ALLOCATION/config',
    '.g\u200cit/config',
    '\ufeff.git',
    'a\\.git\\config',
  ])('knows %j on whatever file system', (path) => {
    expect(holdsGitSegment(path)).toBe(true);
  });

  it.each([
    '.gitignore',
    '.github/workflows',
    'git',
    'a.git',
    '.git2',
    'x.git/config',
    '.gitmodules',
    'git~2x',
  ])('leaves %j alone', (path) => {
    expect(holdsGitSegment(path)).toBe(false);
  });
});
