import type { Operation } from '@codelanes/protocol';
import { locate, type AdvertisedLanes, type Located, type LocateFailure } from './lane-locator.js';

/**
 * What routing looks at; every workspace-tool request has this form, and so has one that was not validated
 * yet. Other fields pass through untouched.
 */
export interface RoutableRequest {
  readonly operation: Operation;
  readonly workspaceId: string;
  readonly workspaceInstanceId?: string | undefined;
  readonly repository?: string | undefined;
  readonly worktree?: string | undefined;
  readonly path?: string | undefined;
  readonly cwd?: string | undefined;
  readonly afterPath?: string | undefined;
  readonly environmentAction?: unknown;
  readonly instructionSha256?: string | undefined;
}

/**
 * Why a request stays as it is, the first that holds:
 *
 * - `conversation_instance`: it addresses a clone of its own.
 * - `environment_action`: actions belong to the whole workspace.
 * - `instructions`: a digest-fenced read of the workspace's instructions.
 * - `explicit_lane`: it names its lane already, and its paths are relative to that.
 * - `no_path`: no path or cwd, or `.`; a command's text is never read.
 * - `invalid_worktree_name`: no worktree can bear that name.
 * - `outside_lanes`: the path lies in no advertised lane.
 * - `lane_directory`: a file tool names the directory of a lane itself.
 * - `cursor_outside_lane`: the list would continue in another lane, or at the lane's directory.
 */
export type UnroutedReason =
  | 'conversation_instance'
  | 'environment_action'
  | 'instructions'
  | 'explicit_lane'
  | 'no_path'
  | LocateFailure
  | 'lane_directory'
  | 'cursor_outside_lane';

export type Routing<R extends RoutableRequest> =
  /** `prefix` goes before every path of the result, see `fromLaneResult`. */
  { readonly request: R; readonly prefix: string } | { readonly request: R; readonly reason: UnroutedReason };

/**
 * Routes a request whose path or cwd lies in an advertised lane into that lane: the lane is named by
 * `repository` and `worktree`, and paths become relative to it. Everything else is returned unchanged, with the
 * reason. Pure; advertise nothing and it changes nothing.
 */
export function toLaneRequest<R extends RoutableRequest>(request: R, lanes: AdvertisedLanes): Routing<R> {
  const key = request.operation === 'execute_command' ? 'cwd' : 'path';
  const reason = unroutable(request, request[key]);
  if (reason !== undefined) return { request, reason };
  const located = locate(request[key] ?? '', lanes);
  if (typeof located === 'string') return { request, reason: located };
  if (located.rest === '' && !takesDirectory(request.operation)) {
    return { request, reason: 'lane_directory' };
  }
  const { afterPath } = request;
  const cursor = afterPath === undefined ? undefined : cursorWithin(afterPath, located, lanes);
  if (afterPath !== undefined && cursor === undefined) return { request, reason: 'cursor_outside_lane' };
  const { repository, worktree, prefix, rest } = located;
  const target = rest === '' ? undefined : rest;
  const routed = { ...request, [key]: target, afterPath: cursor, repository, worktree };
  return { request: withoutAbsent(routed), prefix };
}

function unroutable(request: RoutableRequest, target: string | undefined): UnroutedReason | undefined {
  if (request.workspaceInstanceId !== undefined) return 'conversation_instance';
  if (request.environmentAction !== undefined) return 'environment_action';
  if (request.instructionSha256 !== undefined) return 'instructions';
  if (request.repository !== undefined || request.worktree !== undefined) return 'explicit_lane';
  if (target === undefined || target === '.') return 'no_path';
  return undefined;
}

function takesDirectory(operation: Operation): boolean {
  return operation === 'search_text' || operation === 'list_files' || operation === 'execute_command';
}

/** The cursor relative to a lane, or `undefined` where it lies in another or is the lane's directory itself. */
function cursorWithin(afterPath: string, lane: Located, lanes: AdvertisedLanes): string | undefined {
  const located = locate(afterPath, lanes);
  if (typeof located === 'string' || located.prefix !== lane.prefix || located.rest === '') return undefined;
  return located.rest;
}

/** Requests have closed key sets: a key without a value is not sent at all. */
function withoutAbsent<T extends object>(value: T): T {
  const copy = { ...value };
  for (const [key, held] of Object.entries(copy)) {
    if (held === undefined) Reflect.deleteProperty(copy, key);
  }
  return copy;
}
