import { z } from 'zod';
import { repositoryPathSchema, workspaceInstanceIdSchema, worktreeNameSchema } from '../identifiers.js';
import { limits } from '../limits.js';
import { utf8Length } from '../text.js';
import { toolCallIdSchema, toolCallSchema } from './run-script.js';

/**
 * A file that is handed into a script: inline, as text or in Base64. One that says where it is stored has no content,
 * and a bridge without a file relay refuses it.
 */
const inputFileSchema = z.object({
  name: z.string(),
  content: z.string().optional(),
  encoding: z.enum(['utf8', 'base64']).optional(),
});
export type ProgrammaticFile = z.infer<typeof inputFileSchema>;

/**
 * A script that may call tools. Bodies of this kind name their lane by `workspace_…` fields; the workspace id
 * itself comes by header or URL. Unknown keys are dropped: the SDK lets arguments of the model leak into the body.
 */
export const programmaticRequestSchema = z.object({
  lang: z.string().optional(),
  language: z.string().optional(),
  code: z
    .string()
    .min(1)
    .refine((code) => utf8Length(code) <= limits.programmaticCodeBytes, 'the script is too large'),
  tools: z
    .array(
      z.object({
        name: z.string().min(1).max(limits.toolNameLength),
        description: z.string().optional(),
        parameters: z.unknown().optional(),
      }),
    )
    .max(limits.programmaticTools)
    .optional(),
  files: z.array(inputFileSchema).max(limits.programmaticFiles).optional(),
  /** Running time, in milliseconds. */
  timeout: z.int().min(1000).max(limits.programmaticTimeoutMs).optional(),
  workspace_instance_id: workspaceInstanceIdSchema.optional(),
  workspace_repository: repositoryPathSchema.optional(),
  workspace_worktree: worktreeNameSchema.optional(),
});
export type ProgrammaticRequest = z.infer<typeof programmaticRequestSchema>;

/** What the tool calls of a paused script came to; the token says which pause it was. */
export const programmaticContinuationSchema = z.object({
  continuation_token: z.string().max(256),
  tool_results: z
    .array(
      z.object({
        call_id: toolCallIdSchema,
        result: z.unknown().optional(),
        is_error: z.boolean().optional(),
        error_message: z.string().optional(),
      }),
    )
    .max(limits.pausedToolCalls),
});
export type ProgrammaticContinuation = z.infer<typeof programmaticContinuationSchema>;

/** Asks for the request of that id to be stopped, whatever became of it. */
export const programmaticCancelSchema = z.object({ request_id: z.string().min(1).max(128) });

export const programmaticCancelReplySchema = z.strictObject({
  status: z.enum(['cancellation_requested', 'already_completed']),
});
export type ProgrammaticCancelReply = z.infer<typeof programmaticCancelReplySchema>;

/** A script that failed has completed, too: the SDK throws the output of every other state away. */
export const programmaticReplySchema = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('completed'),
    session_id: z.string(),
    stdout: z.string(),
    stderr: z.string(),
    files: z.array(z.strictObject({ name: z.string(), content: z.string(), encoding: z.literal('base64') })),
  }),
  z.strictObject({
    status: z.literal('tool_call_required'),
    session_id: z.string(),
    continuation_token: z.string(),
    tool_calls: z.array(toolCallSchema),
    partial_stdout: z.string(),
  }),
]);
export type ProgrammaticReply = z.infer<typeof programmaticReplySchema>;
