import type {
  Capabilities,
  ClientGeneration,
  WorkspaceLanes,
  WorkspaceToolRequest,
  WorkspaceToolResult,
} from '@codelanes/protocol';
import {
  CodelanesError,
  findWorkspace,
  lanesOfWorkspace,
  resultFor,
  workspaceToolResultSchema,
} from '@codelanes/protocol';

/** Finds lanes in paths. The bridge is given one, as it knows nothing of how clients write their paths. */
export interface LaneRouter {
  /** A request whose path lies in a lane becomes that lane's, with the prefix of its paths; others stay as they are. */
  toLaneRequest(
    request: WorkspaceToolRequest,
    lanes: WorkspaceLanes,
  ): { readonly request: WorkspaceToolRequest; readonly prefix?: string | undefined };
  /** Puts that prefix back before every path of the result. */
  fromLaneResult(result: WorkspaceToolResult, prefix: string): WorkspaceToolResult;
}

export interface LaneRequest {
  readonly request: WorkspaceToolRequest;
  /** Given, the bridge found the lane in a path, and the caller does not know of it. */
  readonly pathPrefix?: string | undefined;
}

/** Whom a result is for. */
export interface ResultReader {
  readonly generation: ClientGeneration;
  readonly pathPrefix: string | undefined;
}

/** Lanes for callers that do not know them, in workspaces whose worker asks for it (`laneRouting: by-path`). */
export class LaneRouting {
  readonly #router: LaneRouter | undefined;

  constructor(router: LaneRouter | undefined) {
    this.#router = router;
  }

  /** Whether this bridge can find lanes in paths at all. */
  get isOffered(): boolean {
    return this.#router !== undefined;
  }

  /** The request in the lane in which its path lies, or as it was sent: a request that names a lane always is. */
  laneRequestOf(capabilities: Capabilities, sent: WorkspaceToolRequest): LaneRequest {
    const { workspaceId, workspaceInstanceId, repository, worktree } = sent;
    const names = [workspaceInstanceId, repository, worktree].some((field) => field !== undefined);
    const mode = findWorkspace(capabilities, workspaceId)?.laneRouting;
    if (this.#router === undefined || mode === undefined || names) return { request: sent };
    const lanes = lanesOfWorkspace(capabilities, workspaceId);
    const { request, prefix } = this.#router.toLaneRequest(sent, lanes);
    return { request, pathPrefix: prefix };
  }

  /**
   * The result as its caller knows things: with the paths that it sent.
   *
   * @throws CodelanesError `RESULT_INVALID` where a path becomes too long for any client.
   */
  shownResult(result: WorkspaceToolResult, { generation, pathPrefix }: ResultReader): WorkspaceToolResult {
    if (pathPrefix === undefined) return resultFor(generation, result);
    if (this.#router === undefined) {
      throw new CodelanesError(
        'RESULT_INVALID',
        'The call was routed by a bridge with other settings than this one, which cannot put its paths back.',
      );
    }
    // Whoever named no lane has not agreed to be told where one stands.
    const known = generation === 'own' ? result : resultFor('A', result);
    const shown = workspaceToolResultSchema.safeParse(this.#router.fromLaneResult(known, pathPrefix));
    if (shown.success) return shown.data;
    throw new CodelanesError(
      'RESULT_INVALID',
      `A path of the result is too long once "${pathPrefix}" stands before it: ask for less of the lane.`,
    );
  }
}
