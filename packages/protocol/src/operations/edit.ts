import { z } from 'zod';
import { relativePathSchema, sha256Schema } from '../identifiers.js';
import { limits } from '../limits.js';
import { isWellFormed, utf8Length } from '../text.js';
import { requestEnvelope, resultEnvelope } from './envelope.js';

const editText = z.string().refine(isWellFormed, 'an edit text must be well-formed Unicode');

export const editSchema = z.strictObject({
  oldText: editText.min(1, 'oldText may not be empty'),
  newText: editText,
  replaceAll: z.boolean().optional(),
});
export type Edit = z.infer<typeof editSchema>;

const editFields = {
  path: relativePathSchema,
  /** One edit, in the short form that older clients send; never beside `edits`. */
  oldText: editText.min(1, 'oldText may not be empty').optional(),
  newText: editText.optional(),
  edits: z.array(editSchema).min(1).max(limits.editBatch).optional(),
  matching: z.enum(['exact', 'tolerant']).optional(),
};

interface EditFields {
  readonly oldText?: string | undefined;
  readonly newText?: string | undefined;
  readonly edits?: readonly Edit[] | undefined;
}

/** The edits of a request, whichever of the two forms it came in. */
export function editsOf(request: EditFields): readonly Edit[] {
  if (request.edits !== undefined) return request.edits;
  if (request.oldText === undefined || request.newText === undefined) return [];
  return [{ oldText: request.oldText, newText: request.newText }];
}

/** Whether a request asked to be told how its edits were matched, and so must be. */
export function reportsMatches(request: EditFields & { readonly matching?: unknown }): boolean {
  return request.matching !== undefined || editsOf(request).some((edit) => edit.replaceAll !== undefined);
}

function checkEdits(request: EditFields, context: z.core.$RefinementCtx): void {
  const short = request.oldText !== undefined || request.newText !== undefined;
  if (short === (request.edits !== undefined)) {
    context.addIssue({
      code: 'custom',
      path: ['edits'],
      message: 'expected either edits or oldText and newText',
    });
    return;
  }
  const edits = editsOf(request);
  if (edits.length === 0) {
    context.addIssue({ code: 'custom', path: ['newText'], message: 'oldText and newText go together' });
    return;
  }
  const bytes = edits.reduce(
    (sum, { oldText, newText }) => sum + utf8Length(oldText) + utf8Length(newText),
    0,
  );
  if (bytes > limits.editTextBytes) {
    const message = `the texts of a batch together have at most ${limits.editTextBytes} bytes of UTF-8`;
    context.addIssue({ code: 'custom', path: ['edits'], message });
  }
}

export const previewEditRequestSchema = z
  .strictObject({ ...requestEnvelope, operation: z.literal('preview_edit'), ...editFields })
  .superRefine(checkEdits);
export type PreviewEditRequest = z.infer<typeof previewEditRequestSchema>;

export const editFileRequestSchema = z
  .strictObject({
    ...requestEnvelope,
    operation: z.literal('edit_file'),
    ...editFields,
    /** Refuses with EDIT_CONFLICT when the file is not the one that was previewed. */
    expectedBaseSha256: sha256Schema.optional(),
  })
  .superRefine(checkEdits);
export type EditFileRequest = z.infer<typeof editFileRequestSchema>;

export const editStrategySchema = z.enum([
  'exact',
  'line-trimmed',
  'whitespace-normalized',
  'indentation-flexible',
]);
export type EditStrategy = z.infer<typeof editStrategySchema>;

export const editMatchSchema = z.strictObject({
  strategy: editStrategySchema,
  occurrences: z.int().min(1),
});

const editResultFields = {
  path: relativePathSchema,
  /** The number of edits, not of occurrences. */
  replacements: z.int().min(1).max(limits.editBatch),
  bytesWritten: z.int().min(0),
  /** Present exactly when the request named `matching` or a `replaceAll`. */
  matches: z.array(editMatchSchema).max(limits.editBatch).optional(),
};

export const previewEditResultSchema = z.strictObject({
  ...resultEnvelope,
  operation: z.literal('preview_edit'),
  ...editResultFields,
  content: z.string(),
  hasUtf8Bom: z.boolean(),
  baseSha256: sha256Schema,
});
export type PreviewEditResult = z.infer<typeof previewEditResultSchema>;

export const editFileResultSchema = z.strictObject({
  ...resultEnvelope,
  operation: z.literal('edit_file'),
  ...editResultFields,
});
export type EditFileResult = z.infer<typeof editFileResultSchema>;
