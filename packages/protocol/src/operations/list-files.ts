import { z } from 'zod';
import { relativePathSchema } from '../identifiers.js';
import { limits } from '../limits.js';
import { requestEnvelope, resultEnvelope } from './envelope.js';

const operation = z.literal('list_files');

/** Lists files in byte order of their paths; `afterPath` continues a list that was cut. */
export const listFilesRequestSchema = z
  .strictObject({
    ...requestEnvelope,
    operation,
    path: relativePathSchema.optional(),
    maxResults: z.int().min(1).max(limits.listResults).optional(),
    afterPath: relativePathSchema.optional(),
  })
  .refine(
    ({ path, afterPath }) =>
      path === undefined || afterPath === undefined || afterPath === path || afterPath.startsWith(`${path}/`),
    { path: ['afterPath'], error: 'afterPath must lie within path' },
  );
export type ListFilesRequest = z.infer<typeof listFilesRequestSchema>;

export const listFilesResultSchema = z.strictObject({
  ...resultEnvelope,
  operation,
  paths: z.array(relativePathSchema).max(limits.listResults),
  truncated: z.boolean(),
  nextAfterPath: relativePathSchema.optional(),
});
export type ListFilesResult = z.infer<typeof listFilesResultSchema>;
