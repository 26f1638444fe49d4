import { limits, pathFault, type ListFilesRequest, type ListFilesResult } from '@codelanes/protocol';
import { holdsGitSegment } from '../files/git-path.js';
import { walkWithRipgrep } from './ripgrep.js';
import { SmallestPaths } from './smallest-paths.js';
import type { ToolContext } from './tool-context.js';
import { isPlainFile, openScope, type WalkScope } from './walk-scope.js';

const timeoutMs = 10_000;

interface Page {
  readonly paths: readonly string[];
  readonly truncated: boolean;
}

/**
 * Lists regular files in byte order of their paths, hidden ones included, without what the repository ignores.
 * Links are not listed, nor are names that cannot stand on the wire. `afterPath` need not exist any more.
 */
export async function runListFiles(
  context: ToolContext,
  request: ListFilesRequest,
): Promise<ListFilesResult> {
  const { protocolVersion, operation, workspaceId } = request;
  const maxResults = request.maxResults ?? limits.listDefaultResults;
  const deadline = performance.now() + timeoutMs;
  const scope = openScope(context, request.path);
  try {
    let after = request.afterPath;
    for (;;) {
      const page = await nextPage(context, scope, { after, maxResults, deadline });
      const paths = page.paths.filter((path) =>
        isPlainFile(scope.directory, path.slice(scope.prefix.length)),
      );
      const last = paths.at(-1);
      // A page of which nothing is left is no answer: a cursor must be one of its paths.
      if (last !== undefined || !page.truncated) {
        const next = page.truncated ? { nextAfterPath: last } : {};
        return { protocolVersion, operation, workspaceId, paths, truncated: page.truncated, ...next };
      }
      after = page.paths.at(-1);
    }
  } finally {
    scope.directory.close();
  }
}

async function nextPage(
  { ripgrep, signal }: ToolContext,
  scope: WalkScope,
  {
    after,
    maxResults,
    deadline,
  }: { readonly after: string | undefined; readonly maxResults: number; readonly deadline: number },
): Promise<Page> {
  const found = new SmallestPaths(maxResults, after);
  if (scope.file !== undefined) {
    found.add(scope.prefix + scope.file);
    return found.take();
  }
  const { directory, hidden, prefix } = scope;
  const walk = { executable: ripgrep, directory, hidden, arguments: ['--files'], signal, deadline };
  await walkWithRipgrep(walk, (path) => {
    const full = prefix + path;
    if (pathFault(full) === undefined && !holdsGitSegment(full)) found.add(full);
  });
  return found.take();
}
