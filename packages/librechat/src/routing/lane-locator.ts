import { worktreeNameSchema } from '@codelanes/protocol';

/** What a workspace can be split into, as its worker advertises it. */
export interface AdvertisedLanes {
  /** The declared paths of its repositories. */
  readonly repositories: readonly string[];
  /** The checkouts whose linked worktrees are lanes: declared paths, `''` being the workspace's own root. */
  readonly worktrees: readonly string[];
}

/** Where a path lies: its lane, what to put before paths of that lane, and the path inside it (`''` is its top). */
export interface Located {
  readonly repository?: string | undefined;
  readonly worktree?: string | undefined;
  readonly prefix: string;
  readonly rest: string;
}

export type LocateFailure = 'outside_lanes' | 'invalid_worktree_name';

const worktreeFolder = '.worktrees';

/**
 * Finds the lane of a path. The longest declared repository wins, and only whole segments match; nothing is
 * normalised, so `./a` and `a//b` lie in no lane that `a` lies in.
 */
export function locate(path: string, lanes: AdvertisedLanes): Located | LocateFailure {
  const repository = longestRepository(path, lanes.repositories);
  const inside = repository === undefined ? path : path.slice(repository.length + 1);
  const base = repository === undefined ? '' : `${repository}/`;
  if (lanes.worktrees.includes(repository ?? '') && inside.startsWith(`${worktreeFolder}/`)) {
    const [, name = '', ...rest] = inside.split('/');
    if (!worktreeNameSchema.safeParse(name).success) return 'invalid_worktree_name';
    return {
      repository,
      worktree: name,
      prefix: `${base}${worktreeFolder}/${name}/`,
      rest: rest.join('/'),
    };
  }
  return repository === undefined ? 'outside_lanes' : { repository, prefix: base, rest: inside };
}

function longestRepository(path: string, repositories: readonly string[]): string | undefined {
  return repositories
    .filter((repository) => path === repository || path.startsWith(`${repository}/`))
    .sort((one, other) => other.length - one.length)[0];
}
