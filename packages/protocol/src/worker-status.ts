import { z } from 'zod';
import { capacitySchema, instructionsSchema, repositoryAliasSchema } from './capabilities.js';
import { repositoryPathSchema, workerIdSchema, workspaceIdSchema } from './identifiers.js';
import { limits } from './limits.js';

/*
 * The status of a worker as a client reads it. Nothing here is closed: a bridge that is newer than the client may
 * say more, and names operations, scopes and features that the client does not know.
 */

const names = z.array(z.string());

/** A repository of a workspace; only clients of Codelanes are shown it. */
export const shownRepositorySchema = z.object({
  /** As declared; calls name it by this. */
  path: repositoryPathSchema,
  /** The workspace that is its other name. */
  workspaceId: workspaceIdSchema,
  workspaceScopes: names.optional(),
  /** Commands that may run at once in it and its worktrees, where the operator bounds them. */
  commands: z.int().min(1).optional(),
});
export type ShownRepository = z.infer<typeof shownRepositorySchema>;

export const shownWorkspaceSchema = z.object({
  id: workspaceIdSchema,
  name: z.string().optional(),
  operations: names.optional(),
  workspaceScopes: names.optional(),
  workspaceInstances: names.optional(),
  laneRouting: z.string().optional(),
  instructions: z.array(instructionsSchema).optional(),
  environment: z
    .object({
      fingerprint: z.string(),
      repo: z.string().optional(),
      ref: z.string().optional(),
      actions: names,
    })
    .optional(),
  aliasOf: repositoryAliasSchema.optional(),
  capacities: z.array(capacitySchema).optional(),
  repositories: z.array(shownRepositorySchema).optional(),
});
export type ShownWorkspace = z.infer<typeof shownWorkspaceSchema>;

export const shownCapabilitiesSchema = z.object({
  statefulWorkspace: z.boolean().optional(),
  sandboxProfile: z.string(),
  runtimes: names,
  programmaticLanguages: names.optional(),
  workspaceTools: z.object({
    protocolVersion: z.literal(1),
    operations: names,
    workspaces: z.array(shownWorkspaceSchema).min(1).max(limits.workspacesPerWorker),
    programmaticLanguages: names.optional(),
    writeFileModes: names.optional(),
    editFileModes: names.optional(),
    editFileFeatures: names.optional(),
    listFileFeatures: names.optional(),
    commandResultFeatures: names.optional(),
  }),
});
export type ShownCapabilities = z.infer<typeof shownCapabilitiesSchema>;

/** The workspace of that id, or `undefined` where the worker does not offer it. */
export function findShownWorkspace(capabilities: ShownCapabilities, id: string): ShownWorkspace | undefined {
  return capabilities.workspaceTools.workspaces.find((workspace) => workspace.id === id);
}

export const workerStatusSchema = z.object({
  protocolVersion: z.literal(1),
  workerId: workerIdSchema,
  online: z.boolean(),
  ready: z.boolean(),
  leaseExpiresInMs: z.int().min(1).max(60_000).optional(),
  maxCommandTimeoutMs: z.int().min(1).optional(),
  /** Of a worker that is offline LibreChat must not be told them, and clients of Codelanes are. */
  capabilities: shownCapabilitiesSchema.optional(),
});
export type WorkerStatus = z.infer<typeof workerStatusSchema>;
