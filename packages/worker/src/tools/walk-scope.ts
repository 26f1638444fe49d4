import { closeSync } from 'node:fs';
import { Directory, linkRefusal, segmentsOf } from '../files/directory.js';
import { FileRefusal } from '../files/refusal.js';
import { refuseGitPath } from './git-guard.js';
import type { ToolContext } from './tool-context.js';

/** What a list or a search goes through. The caller closes `directory`. */
export interface WalkScope {
  readonly directory: Directory;
  /** What goes before paths of that directory to make them relative to the lane: `''` or `src/`. */
  readonly prefix: string;
  readonly hidden: readonly string[];
  /** The only file that is meant, by its name in `directory`. */
  readonly file?: string | undefined;
}

/**
 * Opens what a list or a search was asked to go through: the lane, a directory or one file of it. No link is
 * followed on the way, so that results can be named by the path that was asked.
 */
export function openScope({ directory, hidden }: ToolContext, path: string | undefined): WalkScope {
  if (path === undefined) return { directory: directory.again(), prefix: '', hidden };
  refuseGitPath(path);
  const segments = segmentsOf(path);
  const name = segments.at(-1) ?? '';
  const parent = directory.walk(segments.slice(0, -1));
  try {
    const entry = parent.find(name);
    if (entry === undefined) throw new FileRefusal('not_found', path, `"${path}" does not exist.`);
    if (entry.kind === 'directory') {
      return { directory: Directory.of(entry), prefix: `${path}/`, hidden: [] };
    }
    closeSync(entry.fd);
    if (entry.kind === 'symlink') throw linkRefusal(path);
    if (entry.kind !== 'file') {
      throw new FileRefusal('not_a_file', path, `"${path}" is neither a directory nor a regular file.`);
    }
    return { directory: parent.again(), prefix: path.slice(0, -name.length), hidden: [], file: name };
  } finally {
    parent.close();
  }
}

/** Whether a path of a scope leads to a regular file without any link on the way. */
export function isPlainFile(directory: Directory, path: string): boolean {
  const segments = segmentsOf(path);
  try {
    const parent = directory.walk(segments.slice(0, -1));
    try {
      const entry = parent.find(segments.at(-1) ?? '');
      if (entry === undefined) return false;
      closeSync(entry.fd);
      return entry.kind === 'file';
    } finally {
      parent.close();
    }
  } catch (error) {
    if (error instanceof FileRefusal) return false;
    throw error;
  }
}
