import { z } from 'zod';
import { errorCodeSchema } from './errors.js';
import {
  workerIdSchema,
  workspaceIdSchema,
  workspaceInstanceIdSchema,
  worktreeNameSchema,
} from './identifiers.js';
import { workspaceToolResultSchema } from './operations.js';
import { waitingReasonSchema } from './views.js';

/** What a caller names its durable request by; unique for 24 hours among the requests of one principal. */
export const durableRequestIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{16,128}$/, 'expected 16 to 128 of A-Z a-z 0-9 _ -');

/** `GET /v1/workspace-tools/capabilities`: 1 where durable requests are offered. */
export const durableCapabilitiesSchema = z.strictObject({
  durableWorkspaceRequests: z.union([z.literal(0), z.literal(1)]),
});
export type DurableCapabilities = z.infer<typeof durableCapabilitiesSchema>;

export const durableStateSchema = z.enum(['queued', 'admitted', 'completed', 'failed', 'cancelled']);
export type DurableState = z.infer<typeof durableStateSchema>;

/**
 * A durable request as its caller sees it, under the names that LibreChat reads. Looking at it consumes nothing.
 * `failed` with the code `ASSIGNMENT_EXPIRED` is an unknown outcome.
 */
export const durableStatusSchema = z.strictObject({
  requestId: durableRequestIdSchema,
  state: durableStateSchema,
  workerId: workerIdSchema,
  workspaceId: workspaceIdSchema,
  workspaceInstanceId: workspaceInstanceIdSchema.optional(),
  worktree: worktreeNameSchema.optional(),
  /** 1-based place among the waiting calls of the worker, while it is queued. */
  queuePosition: z.int().min(1).optional(),
  /** For how long it has waited, while it is queued; told to clients of Codelanes only. */
  sinceMs: z.int().min(0).optional(),
  queueWaitMs: z.int().min(1),
  /** A request to stop it was made; it is no proof that it stopped. */
  cancelRequested: z.boolean(),
  result: workspaceToolResultSchema.optional(),
  error: z.strictObject({ code: errorCodeSchema, message: z.string() }).optional(),
  /**
   * What it waits for, while it is queued, or waited for, where it left the queue at its deadline; told to clients of
   * Codelanes only.
   */
  waitingFor: waitingReasonSchema.optional(),
});
export type DurableStatus = z.infer<typeof durableStatusSchema>;
