import { z } from 'zod';
import { repositoryPathSchema, sha256Schema, workspaceIdSchema } from './identifiers.js';
import { limits } from './limits.js';
import { operationSchema } from './operations.js';

/**
 * What a workspace can be split into. `git_linked_worktree` stands only where the workspace itself is a
 * checkout.
 */
export const workspaceScopeSchema = z.enum(['git_linked_worktree', 'repository']);
export type WorkspaceScope = z.infer<typeof workspaceScopeSchema>;

/**
 * How a call of a workspace gets its lane where it names none. `by-path`: the bridge looks for it in the path or cwd.
 * Left out, such a call is for the whole workspace.
 */
export const laneRoutingSchema = z.literal('by-path');
export type LaneRoutingMode = z.infer<typeof laneRoutingSchema>;

export const instructionsSchema = z.strictObject({
  path: z.enum(['AGENTS.md', 'CLAUDE.md']),
  bytes: z.int().min(0).max(limits.instructionBytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  truncated: z.boolean(),
});

/** What callers are told of the definition of a workspace: labels, and which actions it has; never a command. */
export const advertisedEnvironmentSchema = z.strictObject({
  /** Changes with the definition; a caller repeats the one that it saw beside the name of an action. */
  fingerprint: sha256Schema,
  repo: z.string().min(1).max(limits.labelLength).optional(),
  ref: z.string().min(1).max(limits.labelLength).optional(),
  actions: z.array(z.string().min(1).max(limits.actionNameLength)).max(limits.actionsPerEnvironment),
});
export type AdvertisedEnvironment = z.infer<typeof advertisedEnvironmentSchema>;

/** Commands of a node and everything beneath it that may run at once, where the operator bounds them. */
export const capacitySchema = z.strictObject({
  repository: repositoryPathSchema.optional(),
  commands: z.int().min(1).max(limits.slots),
});

/** A repository of a workspace, which another workspace is only a name of. */
export const repositoryAliasSchema = z.strictObject({
  workspaceId: workspaceIdSchema,
  repository: repositoryPathSchema,
});

/** One workspace that a worker offers; host paths never stand here. */
export const workspaceDescriptorSchema = z.strictObject({
  id: workspaceIdSchema,
  name: z.string().min(1).max(limits.displayNameLength).optional(),
  operations: z.array(operationSchema).max(operationSchema.options.length).optional(),
  workspaceScopes: z.array(workspaceScopeSchema).max(workspaceScopeSchema.options.length).optional(),
  laneRouting: laneRoutingSchema.optional(),
  instructions: z.array(instructionsSchema).max(1).optional(),
  environment: advertisedEnvironmentSchema.optional(),
  capacities: z.array(capacitySchema).max(limits.repositoriesPerWorkspace).optional(),
  /** Given, a call here is one in that repository; its own scopes say what the repository is split into. */
  aliasOf: repositoryAliasSchema.optional(),
});
export type WorkspaceDescriptor = z.infer<typeof workspaceDescriptorSchema>;

export const workspaceToolsSchema = z.strictObject({
  protocolVersion: z.literal(1),
  operations: z.array(operationSchema).min(1).max(operationSchema.options.length),
  workspaces: z.array(workspaceDescriptorSchema).min(1).max(limits.workspacesPerWorker),
  writeFileModes: z.array(z.enum(['replace', 'create'])).optional(),
  editFileModes: z.array(z.enum(['single', 'batch'])).optional(),
  editFileFeatures: z.array(z.enum(['expected_base_sha256', 'tolerant_match', 'replace_all'])).optional(),
  listFileFeatures: z.array(z.enum(['after_path'])).optional(),
  commandResultFeatures: z.array(z.enum(['lane_git'])).optional(),
});

export const capabilitiesSchema = z.strictObject({
  statefulWorkspace: z.boolean(),
  sandboxProfile: z.string().max(128),
  runtimes: z.array(z.string().max(64)).max(32),
  programmaticLanguages: z.array(z.literal('bash')).max(1).optional(),
  /** Of a worker that runs no commands: why, and what its operator can do, for whoever asks it to run one. */
  whyNoCommands: z.string().min(1).max(limits.reasonLength).optional(),
  /** Whether reads of one lane may run beside each other. */
  sharedReads: z.boolean(),
  workspaceTools: workspaceToolsSchema,
});
export type Capabilities = z.infer<typeof capabilitiesSchema>;

/** The descriptor of a workspace, or `undefined` where the worker does not offer it. */
export function findWorkspace(capabilities: Capabilities, id: string): WorkspaceDescriptor | undefined {
  return capabilities.workspaceTools.workspaces.find((workspace) => workspace.id === id);
}
