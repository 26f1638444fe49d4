import { z } from 'zod';
import { relativePathSchema } from '../identifiers.js';
import { limits } from '../limits.js';
import { isWellFormed, utf8Length } from '../text.js';
import { requestEnvelope, resultEnvelope } from './envelope.js';

const operation = z.literal('search_text');

/** Finds a literal text; of each line only the first match is told. */
export const searchTextRequestSchema = z.strictObject({
  ...requestEnvelope,
  operation,
  query: z
    .string()
    .min(1)
    .max(limits.searchQueryLength)
    // eslint-disable-next-line no-control-regex -- NUL and line ends cannot be searched for
    .refine((query) => !/[\u0000\r\n]/.test(query), 'a query may not hold NUL, CR or LF')
    .refine(isWellFormed, 'a query must be well-formed Unicode')
    .refine(
      (query) => utf8Length(query) <= limits.searchQueryBytes,
      `a query has at most ${limits.searchQueryBytes} bytes of UTF-8`,
    ),
  path: relativePathSchema.optional(),
  maxResults: z.int().min(1).max(limits.searchResults).optional(),
});
export type SearchTextRequest = z.infer<typeof searchTextRequestSchema>;

export const searchMatchSchema = z.strictObject({
  path: relativePathSchema,
  line: z.int().min(1),
  column: z.int().min(1),
  text: z.string().max(limits.searchTextLength),
});
export const searchTextResultSchema = z.strictObject({
  ...resultEnvelope,
  operation,
  matches: z.array(searchMatchSchema).max(limits.searchResults),
  truncated: z.boolean(),
});
export type SearchTextResult = z.infer<typeof searchTextResultSchema>;
