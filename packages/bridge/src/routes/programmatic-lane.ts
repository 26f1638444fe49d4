import type { LaneFields, ProgrammaticRequest } from '@codelanes/protocol';
import {
  CodelanesError,
  repositoryHeader,
  repositoryPathSchema,
  workspaceIdHeader,
  workspaceIdSchema,
  worktreeHeader,
  worktreeNameSchema,
} from '@codelanes/protocol';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { malformed, parse } from './parse.js';

/** Of a route without a lane in its path both are left out. */
const pathSchema = z.object({
  workspaceId: workspaceIdSchema.optional(),
  worktree: worktreeNameSchema.optional(),
});

const headersSchema = z.object({
  [workspaceIdHeader]: workspaceIdSchema.optional(),
  [worktreeHeader]: worktreeNameSchema.optional(),
  [repositoryHeader]: repositoryPathSchema.optional(),
});

type LanePart = Pick<LaneFields, 'repository' | 'worktree'>;

/**
 * The lane of a programmatic call: by its URL, else by its headers, else by its body. The later may repeat the earlier,
 * and are never what it falls back to: models write into the body, and the SDK lets them.
 *
 * @throws CodelanesError `MALFORMED_REQUEST` where two of them differ; `UNSUPPORTED_CAPABILITY` without a workspace.
 */
export function programmaticLaneOf(
  request: Pick<FastifyRequest, 'params' | 'headers'>,
  body: ProgrammaticRequest,
): LaneFields {
  const path = parse(pathSchema, request.params, 'path');
  const headers = parse(headersSchema, request.headers, 'header');
  const lane = firstLaneOf(
    { worktree: path.worktree },
    { worktree: headers[worktreeHeader], repository: headers[repositoryHeader] },
    { worktree: body.workspace_worktree, repository: body.workspace_repository },
  );
  return {
    workspaceId: workspaceOf(path.workspaceId, headers[workspaceIdHeader]),
    workspaceInstanceId: body.workspace_instance_id,
    ...lane,
  };
}

function workspaceOf(inPath: string | undefined, inHeader: string | undefined): string {
  const workspaceId = inPath ?? inHeader;
  if (workspaceId === undefined) {
    throw new CodelanesError(
      'UNSUPPORTED_CAPABILITY',
      `Scripts run in attached workspaces only, and header ${workspaceIdHeader} selects none.`,
    );
  }
  if (inHeader === undefined || inHeader === workspaceId) return workspaceId;
  throw malformed(`header ${workspaceIdHeader}: the URL names workspace "${workspaceId}"`);
}

function firstLaneOf(...parts: readonly LanePart[]): LanePart {
  const [lane = {}, ...others] = parts.filter(
    ({ repository, worktree }) => repository !== undefined || worktree !== undefined,
  );
  for (const { repository, worktree } of others) {
    const isOther =
      (worktree !== undefined && worktree !== lane.worktree) ||
      (repository !== undefined && repository !== lane.repository);
    if (isOther) throw malformed('it names one lane by its URL or headers, and another one beside that');
  }
  return lane;
}
