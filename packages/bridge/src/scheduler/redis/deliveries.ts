import {
  callRequestSchema,
  requestIdSchema,
  resumeScriptRequestOf,
  toolResultSchema,
  traceparentSchema,
  type Assignment,
  type Lane,
} from '@codelanes/protocol';
import { z } from 'zod';
import type { StoredCall } from '../stored-call.js';
import type { ReplyReader } from './reply-reader.js';
import { laneOfPath, modeOfLetter, poolOfLetter } from './stored-text.js';

/** What a call keeps however often it is paused; it stands first, so that scripts can leave it as it is. */
const head = {
  executionMs: z.int().min(1),
  requestId: requestIdSchema.optional(),
  traceparent: traceparentSchema.optional(),
  pathPrefix: z.string().optional(),
};
const bodySchema = z.strictObject({ ...head, request: callRequestSchema });
/** Of a script that goes on: what its tools came to. */
const resumedSchema = z.strictObject({ ...head, results: z.array(toolResultSchema) });

/** What only the worker needs of a call, as it is stored until the call ends. */
export function storedBody({ executionMs, request, trace, pathPrefix }: StoredCall): string {
  return JSON.stringify({ executionMs, ...trace, pathPrefix, request });
}

/** Reads what a call asks for that was never paused. @throws ZodError where it is no stored body. */
export function readBody(stored: string): z.output<typeof bodySchema> {
  return bodySchema.parse(JSON.parse(stored));
}

function readAnyBody(lane: Lane, stored: string): z.output<typeof bodySchema> {
  const body = z.union([bodySchema, resumedSchema]).parse(JSON.parse(stored));
  if ('request' in body) return body;
  const { results, ...kept } = body;
  return { ...kept, request: resumeScriptRequestOf(lane, results) };
}

/** Reads one call that was handed over. @throws ZodError where its body is none. */
export function readAssignment(values: ReplyReader): Assignment {
  const callId = values.text();
  const generation = values.number();
  const token = values.text();
  const lane = laneOfPath(values.text());
  const mode = modeOfLetter(values.text());
  const pool = poolOfLetter(values.text());
  const { pathPrefix: _, ...body } = readAnyBody(lane, values.text());
  return { callId, generation, token, lane, mode, pool, ...body };
}
