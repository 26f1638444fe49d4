import { z } from 'zod';
import type { Outcome } from './checker.js';

/** Replies after which the same work may be sent again as a new call, as they say that nothing ran. */
const neverRan = new Set([
  'WORKSPACE_QUEUE_TIMEOUT',
  'WORKER_QUEUE_FULL',
  'WORKER_OFFLINE',
  'WORKER_NOT_FOUND',
  'BRIDGE_STOPPING',
  'STORE_UNAVAILABLE',
  'CALL_CANCELLED',
]);

const refusalSchema = z.object({ code: z.string() });

/** What an answer, taken at its word, says of its call. */
export function outcomeOf(status: number, json: unknown): { outcome: Outcome; words: string } {
  if (status === 200) return { outcome: 'done', words: 'a result' };
  const { code } = refusalSchema.safeParse(json).data ?? { code: `status ${status} without a code` };
  return { outcome: outcomeOfCode(code), words: code };
}

export function outcomeOfCode(code: string): Outcome {
  if (neverRan.has(code)) return 'never ran';
  if (code === 'ASSIGNMENT_EXPIRED') return 'unknown';
  return code === 'EXECUTION_ABORTED' ? 'stopped' : 'odd';
}
