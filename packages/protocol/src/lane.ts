import { z } from 'zod';
import { isWellFormed } from './text.js';

/**
 * What a call must have for itself: a path of tagged segments. The first is the workspace id, or workspace id
 * and conversation instance as `id@instance`: an instance is a clone of its own, in no conflict with its
 * source. The others are `repo:<declared path>` and `worktree:<name>`.
 */
export type Lane =
  | readonly [root: string]
  | readonly [root: string, repository: RepositorySegment]
  | readonly [root: string, worktree: WorktreeSegment]
  | readonly [root: string, repository: RepositorySegment, worktree: WorktreeSegment];

export type RepositorySegment = `repo:${string}`;
export type WorktreeSegment = `worktree:${string}`;

const repositoryTag = 'repo:';
const worktreeTag = 'worktree:';

const repositorySegment = z.templateLiteral(['repo:', z.string()]);
const worktreeSegment = z.templateLiteral(['worktree:', z.string()]);

export const laneSchema: z.ZodType<Lane> = z
  .union([
    z.tuple([z.string()]),
    z.tuple([z.string(), repositorySegment]),
    z.tuple([z.string(), worktreeSegment]),
    z.tuple([z.string(), repositorySegment, worktreeSegment]),
  ])
  .refine((lane) => lane.every(isWellFormed), 'the segments of a lane are well-formed Unicode');

/** The fields by which a call names its lane; nothing else ever decides it. */
export interface LaneFields {
  readonly workspaceId: string;
  readonly workspaceInstanceId?: string | undefined;
  readonly repository?: string | undefined;
  readonly worktree?: string | undefined;
}

export function laneOf(fields: LaneFields): Lane {
  const root =
    fields.workspaceInstanceId === undefined
      ? fields.workspaceId
      : `${fields.workspaceId}@${fields.workspaceInstanceId}`;
  if (fields.repository === undefined) {
    return fields.worktree === undefined ? [root] : [root, `worktree:${fields.worktree}`];
  }
  return fields.worktree === undefined
    ? [root, `repo:${fields.repository}`]
    : [root, `repo:${fields.repository}`, `worktree:${fields.worktree}`];
}

/** The fields by which a call names that lane: `laneOf` of them is the lane again. */
export function fieldsOfLane([root, ...segments]: Lane): LaneFields {
  // An id holds no `@`.
  const [workspaceId = '', workspaceInstanceId] = root.split('@');
  const repository = segments.find((segment) => segment.startsWith(repositoryTag));
  const worktree = segments.find((segment) => segment.startsWith(worktreeTag));
  return {
    workspaceId,
    ...(workspaceInstanceId === undefined ? {} : { workspaceInstanceId }),
    ...(repository === undefined ? {} : { repository: repository.slice(repositoryTag.length) }),
    ...(worktree === undefined ? {} : { worktree: worktree.slice(worktreeTag.length) }),
  };
}

/**
 * One unambiguous string for a lane: segments are percent-encoded and joined by `/`, so that no legal id can
 * forge another lane's key, and one lane lies beneath another exactly when its key continues the other's
 * key with a `/`.
 */
export function laneKey(lane: readonly string[]): string {
  return lane.map(encodeURIComponent).join('/');
}

/** The keys of a lane and of every lane above it, from the root down. */
export function laneKeysFromRoot(lane: readonly string[]): string[] {
  return lane.map((_, depth) => laneKey(lane.slice(0, depth + 1)));
}

/** Whether two lanes are the same or one lies beneath the other. */
export function lanesOverlap(one: readonly string[], other: readonly string[]): boolean {
  const shared = Math.min(one.length, other.length);
  for (let depth = 0; depth < shared; depth += 1) {
    if (one[depth] !== other[depth]) return false;
  }
  return true;
}

export type Mode = 'shared' | 'exclusive';
export type Pool = 'command' | 'file';

/** What the scheduler and the worker need to know of a call to tell whether it may run beside another. */
export interface Claim {
  readonly lane: readonly string[];
  readonly mode: Mode;
}

/** Two calls conflict when their lanes overlap and at least one of them is exclusive. */
export function callsConflict(one: Claim, other: Claim): boolean {
  return (one.mode === 'exclusive' || other.mode === 'exclusive') && lanesOverlap(one.lane, other.lane);
}

/** A lane as people read it: `primary`, `primary/.worktrees/a`, `primary/agents/.worktrees/a`. */
export function describeLane(lane: readonly string[]): string {
  return lane
    .map((segment, depth) => {
      if (depth === 0) return segment;
      if (segment.startsWith(repositoryTag)) return segment.slice(repositoryTag.length);
      return `.worktrees/${segment.slice(worktreeTag.length)}`;
    })
    .join('/');
}
