import { workerIdSchema } from '@codelanes/protocol';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { parse } from './parse.js';

const workerPathSchema = z.object({ id: workerIdSchema });

/** @throws CodelanesError `MALFORMED_REQUEST` where the path names no legal worker id. */
export function workerIdOf(request: FastifyRequest): string {
  return parse(workerPathSchema, request.params, 'path').id;
}
