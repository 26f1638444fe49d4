import { z } from 'zod';
import { callOperationSchema } from './call.js';
import { callIdSchema, workerIdSchema } from './identifiers.js';
import { laneSchema } from './lane.js';
import { refusingLaneSchema } from './closed-lane.js';

/** How long a setup may run, from its start, in milliseconds. */
const boundMs = z.int().min(1).optional();

/** What a waiting call waits for. Of other principals only lane and age are told, and of a setup what it is. */
export const blockerSchema = z.strictObject({
  lane: laneSchema,
  /** Milliseconds since it started, or since it began to wait. */
  ageMs: z.int().min(0),
  state: z.enum(['waiting', 'running']),
  callId: callIdSchema.optional(),
  operation: callOperationSchema.optional(),
  boundMs,
});
export type Blocker = z.infer<typeof blockerSchema>;

/** Why a call that could otherwise start waits: conflicts, or no room in its pool or node. */
export const waitingReasonSchema = z.strictObject({
  /** Calls that conflict; empty where only room is missing. At most five. */
  blockers: z.array(blockerSchema),
  /** Which room is missing, as people read it: `slots`, `files`, `repository`. */
  lacking: z.enum(['slots', 'files', 'repository']).optional(),
  /** 1-based place among the waiting calls of the worker. */
  position: z.int().min(1),
});
export type WaitingReason = z.infer<typeof waitingReasonSchema>;

export const callStateSchema = z.enum([
  'waiting',
  'reserved',
  'delivered',
  'running',
  'cancelling',
  /** A script waits for its tools; it holds neither its lane nor a slot. */
  'paused',
  'settled',
  'withdrawn',
  'interrupted',
]);
export type CallState = z.infer<typeof callStateSchema>;

/**
 * One call as its own caller sees it: `GET /v1/calls/:id?after=<revision>&seen=<mark>` answers at its next change
 * or, while it waits, when something else stands in its way.
 */
export const callViewSchema = z.strictObject({
  callId: callIdSchema,
  state: callStateSchema,
  lane: laneSchema,
  sinceMs: z.int().min(0),
  revision: z.int().min(0),
  waiting: waitingReasonSchema.optional(),
  /** Names what it waits for; two that are equal tell of the same place, blockers and lack of room. */
  mark: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
});
export type CallView = z.infer<typeof callViewSchema>;

const listedCall = {
  callId: callIdSchema,
  lane: laneSchema,
  mode: z.enum(['shared', 'exclusive']),
  pool: z.enum(['command', 'file']),
  operation: callOperationSchema.optional(),
  boundMs,
  /** A short, stable name of who asked; never a token. */
  principal: z.string(),
  sinceMs: z.int().min(0),
};

/** What an administrator sees of a worker: `GET /v1/bridge/workers/:id/lanes`. */
export const lanesViewSchema = z.strictObject({
  workerId: workerIdSchema,
  /** Its lease has not ended; a worker that was killed is online until then. */
  online: z.boolean(),
  /** How long ago an online worker gave a sign of life. */
  heardAgoMs: z.int().min(0).optional(),
  slots: z.strictObject({ used: z.int().min(0), of: z.int().min(0) }),
  files: z.strictObject({ used: z.int().min(0), of: z.int().min(0) }),
  running: z.array(
    z.strictObject({ ...listedCall, state: z.enum(['reserved', 'delivered', 'running', 'cancelling']) }),
  ),
  waiting: z.array(z.strictObject({ ...listedCall, waiting: waitingReasonSchema })),
  /** Scripts that wait for their tools: they occupy nothing. */
  paused: z.array(z.strictObject(listedCall)),
  /** Lanes that the worker has closed, as it last said: something of an earlier call may still run there. */
  quarantined: z.array(refusingLaneSchema),
  /** Lanes in which no command runs until their setup has; of a workspace, its own, which is why it is not offered. */
  failedSetups: z.array(refusingLaneSchema),
});
export type LanesView = z.infer<typeof lanesViewSchema>;

export const cancelReplySchema = z.strictObject({
  callId: callIdSchema,
  /** `withdrawn`: it never ran. `cancelling`: the worker was asked and answers by settling. */
  state: z.enum(['withdrawn', 'cancelling', 'settled']),
});
export type CancelReply = z.infer<typeof cancelReplySchema>;
