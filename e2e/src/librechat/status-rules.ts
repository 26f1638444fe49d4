import {
  CODE_ENVIRONMENT_COMMAND_TIMEOUT_HARD_MAX_MS,
  CODE_WORKSPACE_ID_PATTERN,
  CODE_WORKSPACE_INSTANCE_TYPES,
  CODE_WORKSPACE_MAX_COUNT,
  CODE_WORKSPACE_OPERATIONS,
  isCodeWorkspaceEnvironment,
  isRepositoryInstructionDescriptor,
  type CodeWorkspaceDescriptor,
} from 'librechat-data-provider';
import { z } from 'zod';

/*
 * The status of a worker as LibreChat's server takes it, by the constants, types and checks that LibreChat itself
 * publishes. What breaks one rule makes the whole worker unusable there.
 */

/** The keys of a workspace that generation A knows; the compiler compares them with the published type. */
const workspaceKeysOfA = {
  id: z.string().regex(CODE_WORKSPACE_ID_PATTERN),
  name: z
    .string()
    .max(128)
    .refine((name) => name.trim() !== '')
    .optional(),
  operations: z.lazy(() => operationsSchema).optional(),
  instructions: z.array(z.custom(isRepositoryInstructionDescriptor)).max(1).optional(),
  workspaceInstances: z.tuple([z.enum(CODE_WORKSPACE_INSTANCE_TYPES)]).optional(),
  environment: z.custom(isCodeWorkspaceEnvironment).optional(),
} satisfies Record<keyof CodeWorkspaceDescriptor, z.ZodType>;

const operationsSchema = z
  .array(z.enum(CODE_WORKSPACE_OPERATIONS))
  .min(1)
  .refine((operations) => new Set(operations).size === operations.length);

const text = z.string().min(1).max(128);

function statusSchemaOf<W extends z.ZodType<{ readonly id: string; readonly operations?: unknown }>>(
  workspace: W,
  features: z.ZodRawShape,
) {
  const workspaceTools = z
    .looseObject({
      ...features,
      protocolVersion: z.literal(1),
      operations: operationsSchema,
      workspaces: z.array(workspace).min(1).max(CODE_WORKSPACE_MAX_COUNT),
      programmaticLanguages: z.tuple([z.literal('bash')]).optional(),
    })
    .refine(
      ({ workspaces }) => new Set(workspaces.map(({ id }) => id)).size === workspaces.length,
      'ids differ',
    )
    .refine(
      ({ workspaces, operations }) =>
        workspaces.every((each) => isPartOf(each.operations ?? operations, operations)),
      'a workspace offers nothing that the worker does not',
    );
  const head = z.looseObject({
    protocolVersion: z.literal(1),
    workerId: z.string(),
    maxCommandTimeoutMs: z.int().min(1).max(CODE_ENVIRONMENT_COMMAND_TIMEOUT_HARD_MAX_MS).optional(),
  });
  const capabilities = z.looseObject({
    statefulWorkspace: z.boolean().optional(),
    sandboxProfile: text,
    runtimes: z.array(text).max(32),
    workspaceTools,
  });
  return z.discriminatedUnion('online', [
    head.extend({
      online: z.literal(true),
      ready: z.boolean(),
      leaseExpiresInMs: z.int().min(1).max(60_000),
      capabilities,
    }),
    head.extend({
      online: z.literal(false),
      ready: z.literal(false),
      leaseExpiresInMs: z.undefined().optional(),
      capabilities: z.undefined().optional(),
    }),
  ]);
}

function isPartOf(some: unknown, all: readonly unknown[]): boolean {
  return Array.isArray(some) && some.every((each) => all.includes(each));
}

const noNewerFeatures = { commandResultFeatures: z.undefined().optional() };

/** Generation A: `librechat-data-provider` 0.8.524. */
export const statusOfGenerationA = statusSchemaOf(z.strictObject(workspaceKeysOfA), noNewerFeatures);

/** Generation B: worktree scopes, and the branch of a lane beside the result of a command. */
export const statusOfGenerationB = statusSchemaOf(
  z.strictObject({
    ...workspaceKeysOfA,
    workspaceScopes: z.tuple([z.literal('git_linked_worktree')]).optional(),
  }),
  { commandResultFeatures: z.tuple([z.literal('lane_git')]).optional() },
);
