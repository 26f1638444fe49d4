import { operationSchema } from '@codelanes/protocol';
import type { Capabilities, Operation, WorkspaceDescriptor, WorkspaceScope } from '@codelanes/protocol';

/** Whether reads of one lane run side by side here. */
export const sharedReads = true;

/** A root as it can be offered: what verification and the sandbox's self-test found out about it. */
export interface OfferedRoot {
  readonly id: string;
  /** The root is a checkout whose linked worktrees are lanes, and the operator opted in. */
  readonly hasLanes: boolean;
  readonly repositories: readonly OfferedRepository[];
}

/** A repository beneath a root as it can be offered. */
export interface OfferedRepository {
  /** As declared, verbatim. */
  readonly repository: string;
  readonly workspaceId: string;
  readonly hasLanes: boolean;
  readonly slots: number | undefined;
}

/** What this worker advertises. Without commands (no working sandbox) the file tools are still offered. */
export function capabilitiesOf(roots: readonly OfferedRoot[], commands: boolean): Capabilities {
  const operations: Operation[] = operationSchema.options.filter(
    (operation) => commands || operation !== 'execute_command',
  );
  return {
    statefulWorkspace: true,
    sandboxProfile: commands ? 'codelanes-bubblewrap' : 'codelanes-no-commands',
    runtimes: commands ? ['bash'] : [],
    sharedReads,
    workspaceTools: {
      protocolVersion: 1,
      operations,
      workspaces: roots.flatMap((root) => [
        workspaceOf(root),
        ...root.repositories.map((repository) => aliasOf(root, repository)),
      ]),
      writeFileModes: ['replace', 'create'],
      editFileModes: ['single', 'batch'],
      editFileFeatures: ['expected_base_sha256', 'tolerant_match', 'replace_all'],
      listFileFeatures: ['after_path'],
    },
  };
}

function workspaceOf({ id, hasLanes, repositories }: OfferedRoot): WorkspaceDescriptor {
  const capacities = repositories.flatMap(({ repository, slots }) =>
    slots === undefined ? [] : [{ repository, commands: slots }],
  );
  return {
    id,
    name: id,
    ...scoped([
      ...(hasLanes ? ['git_linked_worktree' as const] : []),
      ...(repositories.length > 0 ? ['repository' as const] : []),
    ]),
    ...(capacities.length > 0 ? { capacities } : {}),
  };
}

/** Each repository is a workspace too, which clients that know no repositories can pick. */
function aliasOf(
  { id }: OfferedRoot,
  { repository, workspaceId, hasLanes }: OfferedRepository,
): WorkspaceDescriptor {
  return {
    id: workspaceId,
    name: workspaceId,
    ...scoped(hasLanes ? ['git_linked_worktree'] : []),
    aliasOf: { workspaceId: id, repository },
  };
}

/** A workspace that is split into nothing says nothing of it. */
function scoped(workspaceScopes: WorkspaceScope[]): Pick<WorkspaceDescriptor, 'workspaceScopes'> {
  return workspaceScopes.length === 0 ? {} : { workspaceScopes };
}
