import { FileRefusal } from '../files/refusal.js';
import { holdsGitSegment } from '../files/git-path.js';

/**
 * Refuses a path that belongs to Git's own storage, for reading too: what an agent may know of it Git tells,
 * and its configuration may hold credentials. `asked` is the path as the caller gave it.
 */
export function refuseGitPath(path: string, asked = path): void {
  if (!holdsGitSegment(path)) return;
  throw new FileRefusal(
    'git_path',
    asked,
    `"${asked}" belongs to Git's own storage, which file tools neither read nor change: use a git command.`,
  );
}
