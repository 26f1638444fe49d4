import { findShownWorkspace, type ShownWorkspace, type WorkerStatus } from '@codelanes/protocol';
import type { AdvertisedLanes } from '../routing/lane-locator.js';
import { WorkspaceSelectionError, type WorkspaceSelection } from './selection.js';

/** How the calls of a conversation are kept apart from those of others; the first that holds. */
export type LaneRouting =
  /** In a clone of its own: send the id with every call, and no lanes. */
  | { readonly kind: 'instance'; readonly workspaceInstanceId: string }
  /** In lanes, chosen by path: route every call with `toLaneRequest`. */
  | { readonly kind: 'lanes'; readonly lanes: AdvertisedLanes }
  /** Not at all: every call is for the whole workspace. */
  | { readonly kind: 'checkout' };

export interface ResolvedWorkspace {
  readonly workspaceId: string;
  /** The tools of other operations are not to be shown to the model. */
  readonly operations: readonly string[];
  readonly routing: LaneRouting;
  /** Whether `run_tools_with_bash` can be offered. */
  readonly programmatic: boolean;
  readonly maxCommandTimeoutMs?: number | undefined;
  readonly editFileFeatures: readonly string[];
  readonly instructions?: ShownWorkspace['instructions'];
  readonly environment?: ShownWorkspace['environment'];
}

export interface ResolveOptions {
  readonly status: WorkerStatus;
  readonly selection: WorkspaceSelection;
  /** The clone of this conversation, where there is a conversation. See `conversationInstanceId`. */
  readonly conversationInstanceId?: string | undefined;
  /** The operator's policy, `configSchema.workspaces.linkedWorktrees`; lanes are used unless it is `false`. */
  readonly linkedWorktrees?: boolean | undefined;
}

/**
 * What a conversation may do in its workspace, by what the worker's status offers. A clone of the conversation's own
 * wins over lanes, and lanes over the whole checkout; the two never go together. Source: LibreChat's
 * `resolveCodeExecutionWorkspaceContext`.
 *
 * @throws WorkspaceSelectionError `worker_unavailable`, `unsupported` or `missing`.
 */
export function resolveWorkspace(options: ResolveOptions): ResolvedWorkspace {
  const { status, selection } = options;
  if (!status.online || !status.ready) throw new WorkspaceSelectionError('worker_unavailable');
  const { capabilities, maxCommandTimeoutMs } = status;
  if (capabilities === undefined) throw new WorkspaceSelectionError('unsupported');
  const workspace = findShownWorkspace(capabilities, selection.workspaceId);
  if (workspace === undefined) throw new WorkspaceSelectionError('missing');
  const { workspaceTools } = capabilities;
  const operations = workspace.operations ?? workspaceTools.operations;
  const languages = workspaceTools.programmaticLanguages ?? capabilities.programmaticLanguages ?? [];
  return {
    workspaceId: workspace.id,
    operations,
    routing: routingOf(workspace, options),
    programmatic: operations.includes('execute_command') && languages.includes('bash'),
    ...(maxCommandTimeoutMs === undefined ? {} : { maxCommandTimeoutMs }),
    editFileFeatures: workspaceTools.editFileFeatures ?? [],
    ...(workspace.instructions === undefined ? {} : { instructions: workspace.instructions }),
    ...(workspace.environment === undefined ? {} : { environment: workspace.environment }),
  };
}

function routingOf(
  workspace: ShownWorkspace,
  { selection, conversationInstanceId, linkedWorktrees }: ResolveOptions,
): LaneRouting {
  const clones = workspace.workspaceInstances?.includes('git_worktree') === true;
  if (selection.checkout === 'isolated' && (!clones || conversationInstanceId === undefined)) {
    throw new WorkspaceSelectionError('unsupported');
  }
  if (clones && selection.checkout !== 'source' && conversationInstanceId !== undefined) {
    return { kind: 'instance', workspaceInstanceId: conversationInstanceId };
  }
  const lanes = linkedWorktrees === false ? undefined : advertisedLanes(workspace);
  return lanes === undefined ? { kind: 'checkout' } : { kind: 'lanes', lanes };
}

/** The lanes of a workspace, or `undefined` where it is split into none. */
export function advertisedLanes({
  workspaceScopes,
  repositories = [],
}: ShownWorkspace): AdvertisedLanes | undefined {
  const split = workspaceScopes?.includes('repository') === true ? repositories : [];
  const worktrees = [
    ...(hasWorktrees({ workspaceScopes }) ? [''] : []),
    ...split.filter(hasWorktrees).map(({ path }) => path),
  ];
  if (split.length === 0 && worktrees.length === 0) return undefined;
  return { repositories: split.map(({ path }) => path), worktrees };
}

function hasWorktrees({ workspaceScopes }: Pick<ShownWorkspace, 'workspaceScopes'>): boolean {
  return workspaceScopes?.includes('git_linked_worktree') === true;
}
