import { z } from 'zod';
import { laneSchema } from './lane.js';
import { limits } from './limits.js';

/** A lane in which its worker refuses commands, for whichever reason. */
export const refusingLaneSchema = z.strictObject({
  lane: laneSchema,
  /** One sentence. */
  reason: z.string().max(limits.errorMessageLength),
  /** Milliseconds since it was so. */
  sinceMs: z.int().min(0),
});
export type RefusingLane = z.infer<typeof refusingLaneSchema>;

/** The same as its worker tells it: something of an earlier call may still run there, or its setup has failed. */
export const closedLaneSchema = refusingLaneSchema.extend({
  cause: z.enum(['quarantine', 'failed_setup']),
});
export type ClosedLane = z.infer<typeof closedLaneSchema>;

/** All lanes that a worker has closed; what it does not list is open. */
export const closedLanesSchema = z.array(closedLaneSchema).max(limits.closedLanes);
