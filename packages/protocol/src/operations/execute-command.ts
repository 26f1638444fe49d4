import { z } from 'zod';
import { relativePathSchema, sha256Schema } from '../identifiers.js';
import { limits } from '../limits.js';
import { isWellFormed, utf8Length } from '../text.js';
import { requestEnvelope, resultEnvelope } from './envelope.js';

const operation = z.literal('execute_command');

export const executeCommandRequestSchema = z.strictObject({
  ...requestEnvelope,
  operation,
  command: z
    .string()
    .refine((command) => command.trim() !== '', 'a command may not be blank')
    .refine((command) => !command.includes('\0'), 'a command may not hold NUL')
    .refine(isWellFormed, 'a command must be well-formed Unicode')
    .refine(
      (command) => utf8Length(command) <= limits.commandBytes,
      `a command has at most ${limits.commandBytes} bytes of UTF-8`,
    ),
  cwd: relativePathSchema.or(z.literal('.')).optional(),
  timeoutMs: z.int().min(1).max(limits.commandTimeoutMs).optional(),
  maxOutputBytes: z.int().min(1).max(limits.commandOutputBytes).optional(),
  /** Chooses a command of the operator's by name; the fingerprint says which version the caller saw. */
  environmentAction: z
    .strictObject({ name: z.string().min(1).max(limits.actionNameLength), fingerprint: sha256Schema })
    .optional(),
});
export type ExecuteCommandRequest = z.infer<typeof executeCommandRequestSchema>;

export const laneGitSchema = z.strictObject({
  branch: z.string().max(256).nullable(),
  head: z
    .string()
    .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
    .nullable(),
});

export const executeCommandResultSchema = z.strictObject({
  ...resultEnvelope,
  operation,
  exitCode: z.int().min(0).max(255).nullable(),
  signal: z
    .string()
    .max(32)
    .regex(/^SIG[A-Z0-9]+$/)
    .optional(),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean(),
  timedOut: z.boolean(),
  laneGit: laneGitSchema.optional(),
});
export type ExecuteCommandResult = z.infer<typeof executeCommandResultSchema>;
