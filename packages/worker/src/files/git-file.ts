import { closeSync, readSync } from 'node:fs';
import type { Entry } from './directory.js';
import { openRegular } from './read.js';

/** Git writes one short line. */
const maxBytes = 4096;

/**
 * What a folder is whose `.git` is a file, and what its operator can do: lanes stand on a `.git` directory of the
 * checkout's own, since the wall is built around it. Two parts of a sentence.
 */
export function explainGitFile(entry: Entry): { readonly is: string; readonly remedy: string } {
  const target = targetOf(entry);
  if (/\/worktrees\/[^/]+$/u.test(target)) {
    return { is: 'a linked worktree', remedy: 'name the main working tree of its repository' };
  }
  if (/(?:^|\/)modules\//u.test(target)) {
    return { is: 'a submodule', remedy: 'clone it as a repository of its own' };
  }
  return {
    is: 'a repository that keeps its Git directory elsewhere (--separate-git-dir)',
    remedy:
      'move the directory that the file names to its place, as .git, and run "git worktree repair" with the path of each of its worktrees',
  };
}

function targetOf(entry: Entry): string {
  const fd = openRegular(entry, entry.name);
  try {
    const bytes = Buffer.alloc(maxBytes);
    const text = bytes.toString('utf8', 0, readSync(fd, bytes, 0, maxBytes, 0));
    return text
      .trim()
      .replace(/^gitdir:\s*/u, '')
      .replace(/\/+$/u, '');
  } finally {
    closeSync(fd);
  }
}
