import { z } from 'zod';
import {
  repositoryPathSchema,
  workspaceIdSchema,
  workspaceInstanceIdSchema,
  worktreeNameSchema,
} from '../identifiers.js';

export const protocolVersion = 1;

/** The fields that every request of every operation may carry beside its own. */
export const requestEnvelope = {
  protocolVersion: z.literal(protocolVersion),
  workspaceId: workspaceIdSchema,
  workspaceInstanceId: workspaceInstanceIdSchema.optional(),
  repository: repositoryPathSchema.optional(),
  worktree: worktreeNameSchema.optional(),
};

/** A result repeats the operation and the workspace id that was sent, an alias included. */
export const resultEnvelope = {
  protocolVersion: z.literal(protocolVersion),
  workspaceId: workspaceIdSchema,
};
