import { z } from 'zod';
import { relativePathSchema } from '../identifiers.js';
import { limits } from '../limits.js';
import { isWellFormed, utf8Length } from '../text.js';
import { requestEnvelope, resultEnvelope } from './envelope.js';

const operation = z.literal('write_file');

/**
 * Writes a whole file, atomically. `overwrite: false` only creates; without the field a file is replaced, as
 * LibreChat's protocol has it.
 */
export const writeFileRequestSchema = z.strictObject({
  ...requestEnvelope,
  operation,
  path: relativePathSchema,
  content: z
    .string()
    .refine(isWellFormed, 'content must be well-formed Unicode')
    .refine(
      (content) => utf8Length(content) <= limits.writeFileBytes,
      `content has at most ${limits.writeFileBytes} bytes of UTF-8`,
    ),
  overwrite: z.boolean().optional(),
});
export type WriteFileRequest = z.infer<typeof writeFileRequestSchema>;

export const writeFileResultSchema = z.strictObject({
  ...resultEnvelope,
  operation,
  path: relativePathSchema,
  created: z.boolean(),
  bytesWritten: z.int().min(0).max(limits.writeFileBytes),
});
export type WriteFileResult = z.infer<typeof writeFileResultSchema>;
