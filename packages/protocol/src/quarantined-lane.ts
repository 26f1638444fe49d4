import { z } from 'zod';
import { laneSchema } from './lane.js';
import { limits } from './limits.js';

/** A lane that its worker has closed, because something of an earlier call may still run in it. */
export const quarantinedLaneSchema = z.strictObject({
  lane: laneSchema,
  /** One sentence. */
  reason: z.string().max(limits.errorMessageLength),
  /** Milliseconds since it was closed. */
  sinceMs: z.int().min(0),
});
export type QuarantinedLane = z.infer<typeof quarantinedLaneSchema>;

/** All lanes that a worker has closed; what it does not list is open. */
export const quarantinedLanesSchema = z.array(quarantinedLaneSchema).max(limits.quarantinedLanes);
