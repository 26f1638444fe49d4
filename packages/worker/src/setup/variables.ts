/** What a setup is told of where it runs. */
export interface SetupPlace {
  /** Canonical path of the environment's root. */
  readonly root: string;
  /** As declared, verbatim. */
  readonly repository: string;
  /** Name of the worktree. */
  readonly worktree: string;
  /** Its canonical path. */
  readonly path: string;
  /** The branch that is checked out there, without `refs/heads/`; undefined for a detached HEAD. */
  readonly branch: string | undefined;
}

/** A variable is never renamed or given another meaning under the same version; new ones may be added. */
const version = '1';

/** The variables of a setup, all of them set in every run. docs/environments.md describes them. */
export function setupVariables({ root, repository, worktree, path, branch }: SetupPlace) {
  return {
    CODELANES_SETUP_VERSION: version,
    CODELANES_ROOT: root,
    CODELANES_REPOSITORY: repository,
    CODELANES_WORKTREE: worktree,
    CODELANES_WORKTREE_PATH: path,
    CODELANES_BRANCH: branch ?? '',
  } as const;
}
