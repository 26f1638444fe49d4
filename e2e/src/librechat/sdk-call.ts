import { z } from 'zod';

/** A tool call of a model that the SDK is to run, as a test sends it to the process that has the SDK. */
export const sdkCallSchema = z.strictObject({
  tool: z.enum(['bash', 'programmatic']),
  /**
   * How the tool is made: `plain` as LibreChat makes it, `bound` with the options of a lane, `kept` to a lane and to its
   * own arguments, `choosing` with the argument by which the model names the lane.
   */
  make: z.enum(['plain', 'bound', 'kept', 'choosing']).default('plain'),
  lane: z.strictObject({ workspaceId: z.string(), worktree: z.string().optional() }).optional(),
  options: z.looseObject({ baseUrl: z.string() }),
  args: z.looseObject({}),
  /** Whether the call has a signal, so that its host can abort it. */
  abortable: z.boolean().default(false),
});
export type SdkCall = z.input<typeof sdkCallSchema>;

/** What the process that has the SDK is told. */
export const sdkOrderSchema = z.union([
  z.strictObject({ id: z.int(), call: sdkCallSchema }),
  z.strictObject({ id: z.int(), abort: z.literal(true) }),
]);

export const sdkOutcomeSchema = z.union([
  /** What the model reads, and what the host keeps. */
  z.strictObject({ content: z.string(), artifact: z.unknown() }),
  z.strictObject({ error: z.string() }),
]);
export type SdkOutcome = z.infer<typeof sdkOutcomeSchema>;

export const sdkReportSchema = z.strictObject({ id: z.int(), outcome: sdkOutcomeSchema });
export type SdkReport = z.infer<typeof sdkReportSchema>;
