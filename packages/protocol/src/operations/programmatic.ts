import { z } from 'zod';
import { repositoryPathSchema, workspaceInstanceIdSchema, worktreeNameSchema } from '../identifiers.js';
import { limits } from '../limits.js';
import { utf8Length } from '../text.js';

/**
 * A script that may call tools. Bodies of this kind name their lane by `workspace_…` fields; the workspace id
 * itself comes by header. Unknown keys are dropped: the SDK lets arguments of the model leak into the body.
 */
export const programmaticRequestSchema = z.object({
  lang: z.literal('bash'),
  code: z
    .string()
    .min(1)
    .refine((code) => utf8Length(code) <= limits.programmaticCodeBytes, 'the script is too large'),
  tools: z
    .array(
      z.object({
        name: z.string().min(1).max(128),
        description: z.string().optional(),
        parameters: z.unknown().optional(),
      }),
    )
    .max(limits.programmaticTools),
  timeout: z.int().min(1000).max(limits.programmaticTimeoutMs).optional(),
  workspace_instance_id: workspaceInstanceIdSchema.optional(),
  workspace_repository: repositoryPathSchema.optional(),
  workspace_worktree: worktreeNameSchema.optional(),
});
export type ProgrammaticRequest = z.infer<typeof programmaticRequestSchema>;
