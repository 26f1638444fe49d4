import { workspaceIdSchema, worktreeNameSchema } from '@codelanes/protocol';

/** A worktree of a workspace, which may be the other name of a repository; without one, the workspace itself. */
export interface BoundLane {
  readonly workspaceId: string;
  readonly worktree?: string | undefined;
}

/**
 * The base URL under which every call of a client is in that lane. Clients that know nothing of lanes take it as they
 * take any other, and keep to it in whatever they send after it.
 *
 * @throws TypeError where an id or a name has not its form.
 */
export function laneBaseUrl(baseUrl: string, { workspaceId, worktree }: BoundLane): string {
  const base = baseUrl.trim().replace(/\/+$/, '');
  if (!workspaceIdSchema.safeParse(workspaceId).success) {
    throw new TypeError(`"${workspaceId}" is no workspace id.`);
  }
  if (worktree === undefined) return base;
  if (!worktreeNameSchema.safeParse(worktree).success)
    throw new TypeError(`No worktree is named "${worktree}".`);
  return `${base}/workspaces/${encodeURIComponent(workspaceId)}/lanes/${encodeURIComponent(worktree)}`;
}

/** The options of the tool factories of `@librechat/agents` 3.9 that a lane decides on. */
export interface SdkToolOptions {
  readonly baseUrl: string;
  readonly workspaceId?: string | undefined;
  readonly workspaceInstanceId?: string | undefined;
}

/**
 * Options for `createBashExecutionTool` and `createBashProgrammaticToolCallingTool` by which the tool works in that
 * lane alone, continuations of programmatic calls included. Options decide nothing about arguments: those of the model that
 * the tool does not have still reach the body of its calls, where the bridge refuses those that name another lane.
 * `createBoundTool` makes the tool and takes them away.
 *
 * @throws TypeError where the options already name a clone of the conversation, which has no lanes.
 */
export function laneToolOptions<O extends SdkToolOptions>(
  options: O,
  lane: BoundLane,
): O & { readonly baseUrl: string; readonly workspaceId: string } {
  if (options.workspaceInstanceId !== undefined) {
    throw new TypeError('A conversation that works in a clone of its own has no lanes.');
  }
  return { ...options, baseUrl: laneBaseUrl(options.baseUrl, lane), workspaceId: lane.workspaceId };
}
