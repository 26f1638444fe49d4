import type { LaneRouter } from '../../dispatch/lane-routing.js';

/** Finds the worktree in a path or cwd; the real one knows more, and is no part of a bridge. */
export const pathRouter: LaneRouter = {
  toLaneRequest(request, { worktrees }) {
    const target = request.operation === 'execute_command' ? request.cwd : request.path;
    const found = /^\.worktrees\/([^/]+)\/?(.*)$/.exec(target ?? '');
    if (found === null || !worktrees.includes('')) return { request };
    const [, worktree = '', rest = ''] = found;
    const prefix = `.worktrees/${worktree}/`;
    const inside = rest === '' ? undefined : rest;
    if (request.operation === 'execute_command') {
      return { request: { ...request, worktree, cwd: inside }, prefix };
    }
    if (request.operation === 'list_files' || request.operation === 'search_text') {
      return { request: { ...request, worktree, path: inside }, prefix };
    }
    return { request: { ...request, worktree, path: rest }, prefix };
  },
  fromLaneResult(result, prefix) {
    if (result.operation === 'list_files') {
      return { ...result, paths: result.paths.map((path) => prefix + path) };
    }
    return 'path' in result ? { ...result, path: prefix + result.path } : result;
  },
};
