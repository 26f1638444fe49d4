import { pathFault } from '@codelanes/protocol';
import { cleanPath } from './clean-path.js';
import type { AdvertisedLanes } from './lane-locator.js';
import { toLaneRequest, type RoutableRequest, type Routing } from './to-lane-request.js';

const pathFields = ['path', 'cwd', 'afterPath'] as const;

/** A path that cannot be sent, in lenient mode as in strict mode; `fault` is a sentence for the model. */
export interface RefusedPath {
  readonly field: (typeof pathFields)[number];
  readonly value: string;
  readonly fault: string;
}

export type LenientRouting<R extends RoutableRequest> = Routing<R> | { readonly refused: RefusedPath };

const noLanes: AdvertisedLanes = { repositories: [], worktrees: [] };

/**
 * Routes as `toLaneRequest` does, after it has cleaned the paths that a model wrote: `./`, `//`, a `/` at the end, and
 * a leading `workspace/` where what follows lies in a lane. `..` is refused and never resolved, as what it leads to may
 * be another lane. A path that is the workspace itself is left out, where the operation takes none.
 */
export function toLaneRequestLeniently<R extends RoutableRequest>(
  request: R,
  lanes: AdvertisedLanes,
): LenientRouting<R> {
  const reachable = namesItsTree(request) ? noLanes : lanes;
  const clean = { ...request };
  for (const field of pathFields) {
    const value = request[field];
    if (value === undefined) continue;
    const path = cleanPath(value, reachable);
    if (path === '' && !isFileTool(request)) {
      Reflect.deleteProperty(clean, field);
      continue;
    }
    const fault = pathFault(path);
    if (fault !== undefined) return { refused: { field, value, fault } };
    Reflect.set(clean, field, path);
  }
  return toLaneRequest(clean, lanes);
}

/** Whether the paths of a request are relative to a tree that it names, and so may not be read as lanes' paths. */
function namesItsTree({ workspaceInstanceId, repository, worktree }: RoutableRequest): boolean {
  return [workspaceInstanceId, repository, worktree].some((field) => field !== undefined);
}

function isFileTool({ operation }: RoutableRequest): boolean {
  return !['search_text', 'list_files', 'execute_command'].includes(operation);
}
