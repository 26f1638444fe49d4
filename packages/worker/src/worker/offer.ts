import { limits, operationSchema } from '@codelanes/protocol';
import type {
  Capabilities,
  LaneRoutingMode,
  Operation,
  WorkspaceDescriptor,
  WorkspaceScope,
} from '@codelanes/protocol';
import type { ActionsOfDefinition } from '../environment/roots.js';

/** Whether reads of one lane run side by side here. */
export const sharedReads = true;

/** A root as it can be offered: what verification and the sandbox's self-test found out about it. */
export interface OfferedRoot {
  readonly id: string;
  /** The root is a checkout whose linked worktrees are lanes, and the operator opted in. */
  readonly hasLanes: boolean;
  /** How calls of it and of its repositories get their lane where they name none. */
  readonly laneRouting?: LaneRoutingMode | undefined;
  readonly definition?: ActionsOfDefinition | undefined;
  readonly repositories: readonly OfferedRepository[];
}

/** A repository beneath a root as it can be offered. */
export interface OfferedRepository {
  /** As declared, verbatim. */
  readonly repository: string;
  readonly workspaceId: string;
  readonly hasLanes: boolean;
  readonly definition?: ActionsOfDefinition | undefined;
  readonly slots: number | undefined;
}

/** What the machine has for commands and scripts, beside whether it can wall them. */
export interface OfferedPrograms {
  readonly scripts?: boolean | undefined;
  /** A sentence what is missing and one what to do; said to callers where commands are refused. */
  readonly whyNoCommands?: string | undefined;
}

/**
 * What this worker advertises. Without commands (no working sandbox) the file tools are still offered, and why it runs
 * none is told; scripts are where their programs are there too.
 */
export function capabilitiesOf(
  roots: readonly OfferedRoot[],
  commands: boolean,
  { scripts = false, whyNoCommands }: OfferedPrograms = {},
): Capabilities {
  const operations: Operation[] = operationSchema.options.filter(
    (operation) => commands || operation !== 'execute_command',
  );
  return {
    statefulWorkspace: true,
    sandboxProfile: commands ? 'codelanes-bubblewrap' : 'codelanes-no-commands',
    runtimes: commands ? ['bash'] : [],
    ...(commands && scripts ? { programmaticLanguages: ['bash' as const] } : {}),
    ...(commands || whyNoCommands === undefined
      ? {}
      : { whyNoCommands: whyNoCommands.slice(0, limits.reasonLength) }),
    sharedReads,
    workspaceTools: {
      protocolVersion: 1,
      operations,
      workspaces: roots.flatMap((root) => [
        workspaceOf(root, commands),
        ...root.repositories.map((repository) => aliasOf(root, repository, commands)),
      ]),
      writeFileModes: ['replace', 'create'],
      editFileModes: ['single', 'batch'],
      editFileFeatures: ['expected_base_sha256', 'tolerant_match', 'replace_all'],
      listFileFeatures: ['after_path'],
      ...(commands && roots.some(offersWorktrees) ? { commandResultFeatures: ['lane_git' as const] } : {}),
    },
  };
}

/** Commands tell the branch of a worktree, so nothing is told where there are none. */
function offersWorktrees({ hasLanes, repositories }: OfferedRoot): boolean {
  return hasLanes || repositories.some((repository) => repository.hasLanes);
}

function workspaceOf(
  { id, hasLanes, laneRouting, definition, repositories }: OfferedRoot,
  commands: boolean,
): WorkspaceDescriptor {
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
    ...routed(laneRouting),
    ...declared(definition, commands),
    ...(capacities.length > 0 ? { capacities } : {}),
  };
}

/** Each repository is a workspace too, which clients that know no repositories can pick. */
function aliasOf(
  { id, laneRouting }: OfferedRoot,
  { repository, workspaceId, hasLanes, definition }: OfferedRepository,
  commands: boolean,
): WorkspaceDescriptor {
  return {
    id: workspaceId,
    name: workspaceId,
    ...scoped(hasLanes ? ['git_linked_worktree'] : []),
    ...routed(laneRouting),
    ...declared(definition, commands),
    aliasOf: { workspaceId: id, repository },
  };
}

/** A workspace that is split into nothing says nothing of it. */
function scoped(workspaceScopes: WorkspaceScope[]): Pick<WorkspaceDescriptor, 'workspaceScopes'> {
  return workspaceScopes.length === 0 ? {} : { workspaceScopes };
}

function routed(laneRouting: LaneRoutingMode | undefined): Pick<WorkspaceDescriptor, 'laneRouting'> {
  return laneRouting === undefined ? {} : { laneRouting };
}

/** What callers may know of a definition: labels, a fingerprint, and the names of actions that would be run. */
function declared(
  definition: ActionsOfDefinition | undefined,
  commands: boolean,
): Pick<WorkspaceDescriptor, 'environment'> {
  if (definition === undefined) return {};
  const { fingerprint, repo, ref, actions } = definition;
  return {
    environment: {
      fingerprint,
      ...(repo === undefined ? {} : { repo }),
      ...(ref === undefined ? {} : { ref }),
      actions: commands ? actions.map(({ name }) => name) : [],
    },
  };
}
