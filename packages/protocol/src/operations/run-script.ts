import { z } from 'zod';
import { fieldsOfLane, type Lane } from '../lane.js';
import { limits } from '../limits.js';
import { isWellFormed, utf8Length } from '../text.js';
import { protocolVersion, requestEnvelope, resultEnvelope } from './envelope.js';
import { functionNamesFault } from './function-names.js';
import { scriptFilesSchema } from './script-files.js';

/** A tool that a script may call, under a bash function of `bashFunctionName(name)`. */
export const scriptToolsSchema = z
  .array(z.strictObject({ name: z.string().min(1).max(limits.toolNameLength) }))
  .max(limits.programmaticTools)
  .superRefine((tools, context) => {
    const fault = functionNamesFault(tools);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });

/** Runs a bash script once, in a lane, as a command runs. At a call of one of its tools it is frozen and settled `paused`. */
export const runScriptRequestSchema = z.strictObject({
  ...requestEnvelope,
  operation: z.literal('run_script'),
  code: z
    .string()
    .min(1)
    .refine((code) => !code.includes('\0'), 'a script may not hold NUL')
    .refine(isWellFormed, 'a script must be well-formed Unicode')
    .refine((code) => utf8Length(code) <= limits.programmaticCodeBytes, 'the script is too large'),
  tools: scriptToolsSchema,
  /** Running time of the script, in milliseconds: while it is paused its time stands still. */
  timeoutMs: z.int().min(1).max(limits.programmaticTimeoutMs).optional(),
  maxOutputBytes: z.int().min(1).max(limits.commandOutputBytes).optional(),
  files: scriptFilesSchema.optional(),
});
export type RunScriptRequest = z.infer<typeof runScriptRequestSchema>;

/** Names a tool call within its script. */
export const toolCallIdSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/u, 'expected the id of a tool call');

/** A tool call that a paused script waits for; the name is the one that the tool was registered under. */
export const toolCallSchema = z.strictObject({
  id: toolCallIdSchema,
  name: z.string().min(1).max(limits.toolNameLength),
  input: z.record(z.string(), z.unknown()),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** What a tool call came to: a string, or anything else that is JSON; or why it failed. */
export const toolResultSchema = z.union([
  z.strictObject({ callId: toolCallIdSchema, error: z.string() }),
  z.strictObject({ callId: toolCallIdSchema, result: z.unknown() }),
]);
export type ToolResult = z.infer<typeof toolResultSchema>;

/** Lets a paused script go on, under the id of its call and a new lease, with what all its tool calls came to. */
export const resumeScriptRequestSchema = z.strictObject({
  ...requestEnvelope,
  operation: z.literal('resume_script'),
  results: z.array(toolResultSchema).min(1).max(limits.pausedToolCalls),
});
export type ResumeScriptRequest = z.infer<typeof resumeScriptRequestSchema>;

/** The request to go on with the paused script of that lane. */
export function resumeScriptRequestOf(lane: Lane, results: readonly ToolResult[]): ResumeScriptRequest {
  return { protocolVersion, operation: 'resume_script', ...fieldsOfLane(lane), results: [...results] };
}

/** The end of a script, under whichever of its leases it came. */
export const runScriptResultSchema = z.strictObject({
  ...resultEnvelope,
  operation: z.literal('run_script'),
  /** Null if and only if the script timed out or was ended by a signal. */
  exitCode: z.int().min(0).max(255).nullable(),
  signal: z
    .string()
    .max(32)
    .regex(/^SIG[A-Z0-9]+$/u)
    .optional(),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean(),
  timedOut: z.boolean(),
  /** What the script made or changed in its data folder. */
  files: scriptFilesSchema,
});
export type RunScriptResult = z.infer<typeof runScriptResultSchema>;
