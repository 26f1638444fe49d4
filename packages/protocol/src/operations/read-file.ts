import { z } from 'zod';
import { relativePathSchema, sha256Schema } from '../identifiers.js';
import { limits } from '../limits.js';
import { requestEnvelope, resultEnvelope } from './envelope.js';

const operation = z.literal('read_file');

/** Reads lines of one file. With `instructionSha256` it is a digest-fenced read of AGENTS.md or CLAUDE.md. */
export const readFileRequestSchema = z
  .strictObject({
    ...requestEnvelope,
    operation,
    path: relativePathSchema,
    startLine: z.int().min(1).optional(),
    maxLines: z.int().min(1).max(limits.readFileLines).optional(),
    instructionSha256: sha256Schema.optional(),
  })
  .superRefine((request, context) => {
    if (request.instructionSha256 === undefined) return;
    if (request.path !== 'AGENTS.md' && request.path !== 'CLAUDE.md') {
      context.addIssue({
        code: 'custom',
        path: ['path'],
        message: 'with instructionSha256 the path is AGENTS.md or CLAUDE.md',
      });
    }
    for (const key of ['startLine', 'maxLines'] as const) {
      if (request[key] === undefined) continue;
      context.addIssue({
        code: 'custom',
        path: [key],
        message: `${key} cannot stand beside instructionSha256`,
      });
    }
  });
export type ReadFileRequest = z.infer<typeof readFileRequestSchema>;

export const readFileResultSchema = z.strictObject({
  ...resultEnvelope,
  operation,
  path: relativePathSchema,
  content: z.string(),
  startLine: z.int().min(1),
  endLine: z.int().min(0),
  truncated: z.boolean(),
  nextStartLine: z.int().min(1).optional(),
});
export type ReadFileResult = z.infer<typeof readFileResultSchema>;
