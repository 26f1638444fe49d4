import { z } from 'zod';
import { callRequestSchema, callResultSchema } from './call.js';
import { capabilitiesSchema } from './capabilities.js';
import { wireErrorSchema } from './errors.js';
import {
  callIdSchema,
  incarnationIdSchema,
  journalIdSchema,
  leaseTokenSchema,
  registrationIdSchema,
  workerIdSchema,
} from './identifiers.js';
import { laneSchema, type Lane } from './lane.js';
import { limits } from './limits.js';
import { toolCallSchema } from './operations/run-script.js';
import { setupRequestOf, setupRequestSchema } from './operations/setup.js';
import { closedLanesSchema } from './closed-lane.js';
import { requestIdSchema, traceparentSchema } from './trace.js';

/**
 * Our own wire between worker and bridge. A worker connects outward only:
 * `POST /v1/workers/:id/{register,poll,report,renew,settle}`.
 */
export const workerWireVersion = 1;

const version = z.literal(workerWireVersion);

export const leaseSchema = z.strictObject({
  callId: callIdSchema,
  generation: z.int().min(1),
  token: leaseTokenSchema,
});
export type Lease = z.infer<typeof leaseSchema>;

/** A call that a worker still holds when it registers; the bridge counts it as running. */
export const heldCallSchema = z.strictObject({
  ...leaseSchema.shape,
  lane: laneSchema,
  mode: z.enum(['shared', 'exclusive']),
  pool: z.enum(['command', 'file']),
  /** Of a setup, which no caller waits for: it goes on where the bridge does not know it any more. */
  operation: z.literal('setup').optional(),
});
export type HeldCall = z.infer<typeof heldCallSchema>;

export const registerRequestSchema = z.strictObject({
  version,
  workerId: workerIdSchema,
  incarnationId: incarnationIdSchema,
  /** New with each registration: only polls that name the latest one are handed anything. */
  registrationId: registrationIdSchema,
  journalId: journalIdSchema,
  capabilities: capabilitiesSchema,
  slots: z.int().min(1).max(limits.slots),
  holds: z.array(heldCallSchema).max(limits.slots + limits.filePool),
  /** Replace a live worker of another journal, as an explicit act of the operator. */
  takeOver: z.boolean(),
  /** Left out, no lane is closed. */
  closed: closedLanesSchema.optional(),
  /** Calls whose scripts wait for tools here, whatever bridge took their pause; left out, none does. */
  paused: z.array(callIdSchema).max(limits.slots).optional(),
});
export type RegisterRequest = z.infer<typeof registerRequestSchema>;

export const registerReplySchema = z.strictObject({
  version,
  slots: z.int().min(1),
  filePool: z.int().min(1),
  leaseTtlMs: z.int().min(1),
  renewEveryMs: z.int().min(1),
  /**
   * Calls that this journal fetched under an earlier incarnation and does not hold: the worker reports each as
   * `denied` (its journal does not know the start) or `interrupted`.
   */
  unresolved: z.array(callIdSchema),
  /** Of the paused calls those that nobody will let go on; left out, none. */
  forgotten: z.array(callIdSchema).optional(),
});
export type RegisterReply = z.infer<typeof registerReplySchema>;

export const assignmentSchema = z.strictObject({
  ...leaseSchema.shape,
  lane: laneSchema,
  mode: z.enum(['shared', 'exclusive']),
  /** `none` is a digest-fenced read of instructions. */
  pool: z.enum(['command', 'file', 'none']),
  /** Time that the call may run, from its start. */
  executionMs: z.int().min(1),
  request: callRequestSchema,
  /** For the worker's log only. */
  requestId: requestIdSchema.optional(),
  traceparent: traceparentSchema.optional(),
});
export type Assignment = z.infer<typeof assignmentSchema>;

export const pollRequestSchema = z.strictObject({
  version,
  incarnationId: incarnationIdSchema,
  /** The registration that this poll follows. */
  registrationId: registrationIdSchema,
  /** 0 answers at once. */
  waitMs: z.int().min(0).max(25_000),
  /**
   * Asks for a reply of several batches, each a line of its own with the shape of a poll's reply, as they come
   * until the wait is over. It is for a connection on which nothing in between holds lines back.
   */
  stream: z.boolean().optional(),
});
export type PollRequest = z.infer<typeof pollRequestSchema>;

/** Content type of the reply to a poll that asked for a stream. */
export const pollStreamType = 'application/x-ndjson';

export const pollReplySchema = z.strictObject({
  version,
  /**
   * How long the bridge held this poll. A lease in it is no older than the poll's round trip less this, by
   * which a worker that was suspended meanwhile can tell a lease that has ended.
   */
  heldMs: z.int().min(0),
  assignments: z.array(assignmentSchema),
  /** Running calls that the worker is asked to stop. */
  cancellations: z.array(callIdSchema),
  /**
   * Lanes in which a call of the worker's runs and for which a command has begun to wait, once for each. A hint of
   * which nothing may depend: the worker may prepare for the command, which the lane's next call may not be.
   */
  expected: z.array(laneSchema).optional(),
});
export type PollReply = z.infer<typeof pollReplySchema>;

/** Whether the worker could be asked for something in that lane. */
function isNameable(lane: Lane): boolean {
  return setupRequestSchema.safeParse(setupRequestOf(lane)).success;
}

export const reportSchema = z.discriminatedUnion('state', [
  z.strictObject({ ...leaseSchema.shape, state: z.literal('started') }),
  /** The worker holds something that overlaps, or has no room: offer again after the next report. */
  z.strictObject({ ...leaseSchema.shape, state: z.literal('busy') }),
  z.strictObject({ callId: callIdSchema, state: z.literal('denied') }),
  z.strictObject({ callId: callIdSchema, state: z.literal('interrupted') }),
  /** Something that blocked a lane has ended: calls that were answered `busy` may be offered again. */
  z.strictObject({ state: z.literal('freed') }),
  /** The closed lanes are these from here on. */
  z.strictObject({ state: z.literal('closed'), lanes: closedLanesSchema }),
  /**
   * This lane must be set up before its commands. The bridge asks for that once, ahead of every call of the lane that
   * waits for it; said again while such a setup waits or runs, it changes nothing. So the worker says it whenever a
   * command reaches an unready lane, then answers that command `busy`.
   */
  z.strictObject({
    state: z.literal('unready'),
    lane: laneSchema.refine(isNameable, 'expected a lane that a request can name'),
    /** Time that the setup may take. */
    timeoutMs: z.int().min(1).max(limits.setupTimeoutMs),
  }),
]);
export type Report = z.infer<typeof reportSchema>;

export const reportRequestSchema = z.strictObject({
  version,
  incarnationId: incarnationIdSchema,
  reports: z.array(reportSchema).min(1).max(1024),
});
export type ReportRequest = z.infer<typeof reportRequestSchema>;

export const reportReplySchema = z.strictObject({
  version,
  /** Of the calls reported as started, those whose lease is no longer this worker's: it stops them. */
  fenced: z.array(callIdSchema),
});
export type ReportReply = z.infer<typeof reportReplySchema>;

export const renewRequestSchema = z.strictObject({
  version,
  incarnationId: incarnationIdSchema,
  leases: z.array(leaseSchema).max(1024),
});
export type RenewRequest = z.infer<typeof renewRequestSchema>;

export const renewReplySchema = z.strictObject({
  version,
  lost: z.array(callIdSchema),
  cancellations: z.array(callIdSchema),
});
export type RenewReply = z.infer<typeof renewReplySchema>;

export const settlementSchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('fulfilled'), result: callResultSchema }),
  z.strictObject({ status: z.literal('rejected'), error: wireErrorSchema }),
]);
export type Settlement = z.infer<typeof settlementSchema>;

/**
 * A script waits for tools: it is frozen, and its lease and its lane are given up. It goes on when the same call is
 * assigned again with a `resume_script` request.
 */
export const pauseSchema = z.strictObject({
  status: z.literal('paused'),
  toolCalls: z.array(toolCallSchema).min(1).max(limits.pausedToolCalls),
  /** What the script has written so far, from its start on, within its bound. */
  stdout: z.string(),
});
export type Pause = z.infer<typeof pauseSchema>;

export const settleRequestSchema = z.strictObject({
  version,
  incarnationId: incarnationIdSchema,
  lease: leaseSchema,
  settlement: z.discriminatedUnion('status', [...settlementSchema.options, pauseSchema]),
  /** How long the call itself ran, as the worker measured it: a command from its start to its end. */
  ranMs: z.number().min(0).optional(),
});
export type SettleRequest = z.infer<typeof settleRequestSchema>;

/** What may start now rings the open poll; a settlement brings no assignments of its own. */
export const settleReplySchema = z.strictObject({
  version,
  accepted: z.boolean(),
});
export type SettleReply = z.infer<typeof settleReplySchema>;
