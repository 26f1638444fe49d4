import {
  requestIdSchema,
  traceparentSchema,
  workspaceToolRequestSchema,
  type Assignment,
} from '@codelanes/protocol';
import { z } from 'zod';
import type { NewCall } from '../store.js';
import type { ReplyReader } from './reply-reader.js';
import { laneOfPath, modeOfLetter, poolOfLetter } from './stored-text.js';

const bodySchema = z.strictObject({
  executionMs: z.int().min(1),
  request: workspaceToolRequestSchema,
  requestId: requestIdSchema.optional(),
  traceparent: traceparentSchema.optional(),
});

/** What only the worker needs of a call, as it is stored until the call ends. */
export function storedBody({ executionMs, request, trace }: NewCall): string {
  return JSON.stringify({ executionMs, request, ...trace });
}

/** Reads what a call asks for. @throws ZodError where it is no stored body. */
export function readBody(stored: string): z.output<typeof bodySchema> {
  return bodySchema.parse(JSON.parse(stored));
}

/** Reads one call that was handed over. @throws ZodError where its body is none. */
export function readAssignment(values: ReplyReader): Assignment {
  const callId = values.text();
  const generation = values.number();
  const token = values.text();
  const lane = laneOfPath(values.text());
  const mode = modeOfLetter(values.text());
  const pool = poolOfLetter(values.text());
  return { callId, generation, token, lane, mode, pool, ...readBody(values.text()) };
}
