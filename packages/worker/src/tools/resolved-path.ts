import type { Directory } from '../files/directory.js';
import { resolve } from '../files/resolve.js';
import { refuseGitPath } from './git-guard.js';

/**
 * Where a write would end up after links, for the journal. The write itself looks again.
 *
 * @throws FileRefusal where that lies outside the directory or in Git's own storage.
 */
export function resolvedPath(directory: Directory, path: string): string {
  const resolved = resolve(directory, path);
  resolved.close();
  refuseGitPath(resolved.path, path);
  return resolved.path;
}
